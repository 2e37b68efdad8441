"""A notebook's output with a widget, as a file: no server answers, and a model stands for the kernel."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tests.page.browser.chromium import Opened

if TYPE_CHECKING:
    from pathlib import Path

    from anywidget import AnyWidget
    from playwright.sync_api import Browser

# The colours of notebooks.
DARK, LIGHT = "#111111", "#ffffff"
# A front end as anywidget is one: the module from a blob, a model whose values both sides set.
PAGE = """<!doctype html><html lang="en"><head><title>A notebook</title><style>
body { background: var(--around); margin: 0 } h1 { color: #808080 }
td, button { color: red !important; font-size: 40px !important }
</style></head><body style="--around: AROUND"><main><h1>A notebook</h1><div id="one"></div></main>
<script type="application/json" id="told">TOLD</script><script>
class Model {
  constructor(state) { this.state = state; this.heard = []; this.changed = {}; this.saved = []; this.sent = []; }
  get(name) { return this.state[name]; }
  set(name, value) {
    if (this.state[name] === value) return;
    this.state[name] = value;
    this.changed[name] = value;
    this.tell(`change:${name}`);
  }
  save_changes() { this.saved.push(this.changed); this.changed = {}; }
  on(name, heard) { this.heard.push([name, heard]); }
  off(name, heard) { this.heard = this.heard.filter(([one, other]) => one !== name || other !== heard); }
  tell(name, said) { for (const [one, heard] of [...this.heard]) if (one === name) heard(said); }
  send(message) { this.sent.push(message); }
}
const { esm, state } = JSON.parse(document.getElementById("told").textContent);
const place = URL.createObjectURL(new Blob([esm], { type: "text/javascript" }));
const model = new Model(state);
const keys = [];
document.addEventListener("keydown", (event) => keys.push(event.key));
const ready = import(place).then(async ({ default: widget }) => {
  window.end = await widget.render({ model, el: document.getElementById("one") });
});
</script></body></html>"""


def with_widget(browser: Browser, folder: Path, widget: AnyWidget, around: str = LIGHT, **options: Any) -> Opened:
    """The page of a widget, whose file goes to a folder. around: the notebook's colour."""
    state = {name: value for name, value in widget.get_state().items() if name != "_esm"}
    told = json.dumps({"esm": widget._esm, "state": state}).replace("<", "\\u003c")
    file = folder / "notebook.html"
    file.write_text(PAGE.replace("AROUND", around).replace("TOLD", told), "utf-8")
    opened = Opened.at(browser, folder.as_uri(), **options)
    opened.page.goto(file.as_uri())
    opened.page.evaluate("ready")
    return opened
