"""The widget of a training iteration."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import anywidget
import traitlets

from lightloom.views.listings import everything
from lightloom.views.training_rows import timeline
from lightloom.widgets.modules import joined_modules

if TYPE_CHECKING:
    from lightloom.training.result import Training


class TrainingWidget(anywidget.AnyWidget):
    """A training iteration as the page shows it: its policies, and its course in time."""

    _esm = joined_modules("notebook/training.js")
    _training = traitlets.Unicode().tag(sync=True)
    # The titles of policies.
    _registries = traitlets.Unicode().tag(sync=True)

    def __init__(self, training: Training) -> None:
        self.training = training
        told = {**json.loads(training.to_json()), "timeline": timeline(training)}
        super().__init__(_training=json.dumps(told), _registries=json.dumps(everything("policies")))
