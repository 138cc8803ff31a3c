"""Words of settings: none is left over, and each stands beside its own field."""

from burnish.app import setting_words
from burnish.app.kinds import optimizer_kinds, scorer_kinds

KINDS = {one.name: one.settings["properties"] for one in (*scorer_kinds(), *optimizer_kinds())}


def test_every_word_is_of_a_setting_that_there_is():
    named = {name for properties in KINDS.values() for name in properties}

    assert setting_words._WORDS.keys() <= named
    for kind, name in (*setting_words._OF_KIND, *setting_words._CHOICES):
        assert name in KINDS[kind], (kind, name)


def test_no_two_settings_of_a_kind_say_the_same():
    """NEW-36: three fields had one and the same sentence of a docstring."""
    for kind, properties in KINDS.items():
        said = [one["description"] for one in properties.values() if "description" in one]
        assert len(set(said)) == len(said), kind


def test_columns_models_and_choices_are_marked():
    assert KINDS["exact_match"]["field"]["x-column"] is True
    assert KINDS["few_shot"]["answer_field"]["x-column"] is True
    assert KINDS["judge"]["model"]["x-model"] is True
    assert KINDS["contains"]["match"]["enum"] == ["all", "any"]
    assert "function" not in KINDS["gepa"]["model"]["description"]
