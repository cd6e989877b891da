"""Every stored certificate is proved again, against its own model and against no other."""

from __future__ import annotations

import pytest

import dalenius as dl
from dalenius.library import library, library_model

MODELS = {model.name: model for model in library()}


def test_the_library_is_there():
    assert {"paper/parity-4-laplace", "real/fair-cell-geometric"} <= set(MODELS)
    with pytest.raises(dl.InputError, match="no model named"):
        library_model("paper/no-such-model")


@pytest.mark.parametrize("name", MODELS)
def test_the_stored_certificate_is_proved(name):
    model = MODELS[name]
    assert model.certificate_path is not None, "make models writes it"
    verdict = dl.verify(model.path, model.certificate_path)
    assert verdict.proved, verdict.reason
    assert model.load().title
    assert (float(verdict.lower), float(verdict.upper)) == model.claim


@pytest.mark.parametrize("name", MODELS)
def test_a_model_survives_being_written_and_read(name):
    problem = MODELS[name].load()
    assert dl.loads(dl.dumps(problem)) == problem


def test_another_models_certificate_is_rejected():
    verdict = dl.verify(MODELS["paper/parity-4-exponential"].path, MODELS["paper/parity-4-laplace"].certificate_path)
    assert verdict.status.value == "rejected"
    assert "another model" in verdict.reason
