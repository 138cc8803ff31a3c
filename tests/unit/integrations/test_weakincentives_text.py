"""Placeholders of string.Template and ours, both ways."""

from string import Template

import pytest
from hypothesis import given
from hypothesis import strategies as st

from burnish.domain.configuration import render
from burnish.integrations.weakincentives.sections import from_template, to_template


class Fields(dict):
    """Has every field: pieces put together may name any."""

    def __contains__(self, name):
        return True

    def __missing__(self, name):
        return f"<{name}>"


FIELDS = Fields(name="Ann", b="$x {{name}} ${b}")


@pytest.mark.parametrize(
    ("template", "ours"),
    [
        ("Hello ${name}, $b!", "Hello {{name}}, {{b}}!"),
        ("It costs $$5, $${name} or $$$name", "It costs $5, ${name} or ${{name}}"),
        ("${name}suffix {x}", "{{name}}suffix {x}"),
        ("", ""),
    ],
)
def test_templates_read_as_our_text(template, ours):
    assert from_template(template) == ours
    assert Template(to_template(ours)).substitute(FIELDS) == Template(template).substitute(FIELDS)


@pytest.mark.parametrize("template", ["Jinja's {{name}}", "costs $5", "{{ ${name} }} {{b}}", "a $"])
def test_what_has_no_exact_form_is_told(template):
    assert from_template(template) is None


PIECES = st.lists(
    st.sampled_from(["$$", "${name}", "$b", "{", "}", "{{", "}}", " ", "name", "$", "b", "\n"])
)


@given(PIECES)
def test_whatever_translates_renders_alike(pieces):
    template = "".join(pieces)
    ours = from_template(template)
    if ours is None:
        return

    said = Template(template).substitute(FIELDS)

    assert render(ours, FIELDS) == said
    assert Template(to_template(ours)).substitute(FIELDS) == said


@given(PIECES)
def test_our_text_renders_alike_as_a_template(pieces):
    ours = "".join({"${name}": "{{name}}", "$b": "{{ b }}"}.get(piece, piece) for piece in pieces)

    assert Template(to_template(ours)).substitute(FIELDS) == render(ours, FIELDS)
