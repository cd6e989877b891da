"""What classes say of themselves: how they are called."""

import enum
import inspect

import dalenius as dl


def test_signatures_are_those_of_the_objects_that_are_made():
    """Of all public classes, as help, Jupyter and the site show them."""
    classes = {
        name: thing
        for room in (dl, dl.answers, dl.constraints, dl.objectives)
        for name in dir(room)
        if isinstance(thing := getattr(room, name), type) and not issubclass(thing, enum.Enum)
    }
    own = {name: cls for name, cls in classes.items() if inspect.isfunction(cls.__init__)}
    assert len(own) > 90
    for name, cls in own.items():
        made = list(inspect.signature(cls.__init__).parameters.values())[1:]
        assert list(inspect.signature(cls).parameters.values()) == made, name
    assert [*inspect.signature(dl.geometric).parameters] == ["epsilon", "range"]
