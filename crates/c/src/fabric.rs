//! A fabric with the plans that were made on it.

use std::sync::Arc;

use lightloom::options::Given;
use lightloom::{Request, Size, StatedFabric, TextFabric, TextRequest};
use model::{Collective, Error, Result};
use planners::Cache;

use crate::kept::Kept;
use crate::options;
use crate::plan::LightloomPlan;

/// A fabric, the options of its plans but collective and size, and the plans that were made. For use by all threads.
pub struct LightloomFabric {
    fabric: StatedFabric,
    asked: TextRequest,
    cache: Arc<Cache>,
    plans: Kept<(Collective, u64), Arc<LightloomPlan>, Error>,
}

impl LightloomFabric {
    /// The fabric that JSON describes, which keeps at most this many plans, or all where `most_kept` is 0.
    ///
    /// # Errors
    /// The errors of [`options::read`], an option that does not take its value, and a fabric that there cannot be.
    pub fn new(text: &str, most_kept: usize) -> Result<Self> {
        Self::of(&options::read(text)?, most_kept)
    }

    /// The fabric of options that are given as pairs of name and value.
    ///
    /// # Errors
    /// The errors of [`Given::of_texts`], an option that does not take its value, and a fabric that there cannot be.
    pub fn of_pairs(pairs: &[(&str, &str)], most_kept: usize) -> Result<Self> {
        Self::of(&Given::of_texts(pairs.iter().copied())?, most_kept)
    }

    fn of(given: &Given, most_kept: usize) -> Result<Self> {
        let (fabric, asked) = (TextFabric::read(given)?.stated()?, TextRequest::read(given)?);
        if let Some((field, unlike)) = fabric.fabric.shape.unlike_rates() {
            let accepts = "one rate for all circuits: those of a plan are told without their rates";
            return Err(Error::value(field, unlike, accepts));
        }
        Ok(Self { fabric, asked, cache: Arc::default(), plans: Kept::new(most_kept) })
    }

    /// The plan for a collective and a size, looked up or made.
    ///
    /// # Errors
    /// The errors of the planners.
    pub fn plan(&self, collective: Collective, size_bytes: u64) -> Result<Arc<LightloomPlan>> {
        lightloom::bound_threads();
        let make = || Ok(Arc::new(LightloomPlan::made(lightloom::plan(&self.request(collective, size_bytes)?)?)));
        self.plans.get_or_make(&(collective, size_bytes), make)
    }

    /// The plan for a collective and a size, if it is kept.
    pub fn look_up(&self, collective: Collective, size_bytes: u64) -> Option<Arc<LightloomPlan>> {
        self.plans.look_up(&(collective, size_bytes))
    }

    /// Keeps a plan, such as one from a file, in place of the one for its collective and size.
    ///
    /// # Errors
    /// A plan for another fabric.
    pub fn keep(&self, plan: &Arc<LightloomPlan>) -> Result<()> {
        let (collective, size_bytes) = (plan.plan().collective(), plan.plan().size_bytes);
        if plan.plan().fabric != self.request(collective, size_bytes)?.fabric {
            return Err(Error::malformed("plan", "the plan was made for a fabric other than this one"));
        }
        self.plans.put(&(collective, size_bytes), plan.clone());
        Ok(())
    }

    fn request(&self, collective: Collective, size_bytes: u64) -> Result<Request> {
        let asked = TextRequest {
            collective: Some(collective.name().to_string()),
            size: Some(Size::Buffer(size_bytes)),
            ..self.asked.clone()
        };
        asked.request(&self.fabric, self.cache.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_s_example_has_all_options_and_is_planned_on() {
        let page = include_str!("../../../docs/how-to/plan-from-c.md");
        let (_, rest) = page.split_once("```json\n").expect("an example");
        let (text, _) = rest.split_once("```").expect("its end");
        for option in lightloom::options::OPTIONS.iter().filter(|option| option.is_read()) {
            assert!(text.contains(&format!("\"{}\":", option.name)), "{} is not in it", option.name);
        }
        let fabric = LightloomFabric::new(text, 0).expect("a fabric");
        let plan = fabric.plan(Collective::AllGather, 1 << 20).expect("a plan");
        assert_eq!(plan.plan().fabric.shape.gpus(), 64);
    }

    #[test]
    fn what_is_left_open_is_auto() {
        let plan = |text| LightloomFabric::new(text, 0).and_then(|made| made.plan(Collective::AllGather, 1 << 16));
        let open = plan(r#"{"gpus": 8}"#).expect("a plan");
        let auto = plan(r#"{"gpus": 8, "planner": "auto", "algorithm": "auto"}"#).expect("a plan");
        assert_eq!(formats::plan_to_json(open.plan()), formats::plan_to_json(auto.plan()));
    }
}
