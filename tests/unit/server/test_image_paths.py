"""Paths of image runs belong to the API, also when a browser would like to show them as a page."""

import pytest
from starlette.datastructures import Headers

from burnish.server.http.ui_pages import UI_POLICY, is_page
from burnish.server.images.paths import FIRST_PARTS, is_image_path

BROWSER = Headers({"accept": "text/html,application/xhtml+xml,*/*;q=0.8"})


@pytest.mark.parametrize("first", FIRST_PARTS)
def test_an_image_path_is_no_page(first):
    assert not is_page(f"/{first}", BROWSER)
    assert not is_page(f"/{first}/x/y", BROWSER)
    assert is_image_path(f"/{first}/x")


@pytest.mark.parametrize("path", ["/workbench", "/workbench/fox/eval", "/runs", "/imagesque"])
def test_screens_are_pages_and_no_image_paths(path):
    assert is_page(path, BROWSER)
    assert not is_image_path(path)


def test_the_ui_may_show_pictures_that_it_fetched_with_its_key():
    policy = dict(part.split(" ", 1) for part in UI_POLICY.split("; "))

    assert {"'self'", "blob:"} <= set(policy["img-src"].split())
