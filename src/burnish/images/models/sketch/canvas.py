"""What is drawn on: paint, a mask of the things, and light."""

from __future__ import annotations

from collections.abc import Sequence

from PIL import Image, ImageDraw, ImageFilter

from burnish.images.models.colours import Colour

# x, y, two radii, all in shares of the picture's side, and a strength up to 255.
SoftOval = tuple[float, float, float, float, int]
_SOFT = 160


class Canvas:
    """A picture in the making, at `scale` times its final size.

    `image` is the paint and `mask` where things are. At the final size, `glow` is light that only
    spreads, and `spark` light whose source is seen.
    """

    def __init__(self, side: int, scale: int) -> None:
        self.side = side
        self.scale = scale
        self.big = side * scale
        self.image = Image.new("RGB", (self.big, self.big))
        self.mask = Image.new("L", (self.big, self.big), 0)
        self.paint_draw = ImageDraw.Draw(self.image, "RGBA")
        self.mask_draw = ImageDraw.Draw(self.mask)
        self.light_up()

    def light_up(self) -> None:
        """Begin with no light of its own; what shone before is left to whoever holds it."""
        self.glow = Image.new("RGB", (self.side, self.side))
        self.spark = Image.new("RGB", (self.side, self.side))
        self.glow_draw = ImageDraw.Draw(self.glow)
        self.spark_draw = ImageDraw.Draw(self.spark)

    def soften(self, ovals: Sequence[SoftOval], ink: Colour) -> None:
        """Paint ellipses that fade out at their edges; the later of two that meet wins."""
        soft = Image.new("L", (_SOFT, _SOFT))
        draw = ImageDraw.Draw(soft)
        for x, y, rx, ry, strength in ovals:
            draw.ellipse([_SOFT * v for v in (x - rx, y - ry, x + rx, y + ry)], fill=strength)
        soft = soft.filter(ImageFilter.GaussianBlur(2))
        box = soft.getbbox()
        if box:
            # Only where there is something: on the large picture every pixel costs.
            grow = self.big / _SOFT
            x0, y0, x1, y1 = (round(edge * grow) for edge in box)
            veil = soft.resize((x1 - x0, y1 - y0), Image.Resampling.BILINEAR, box)
            self.image.paste(ink, (x0, y0, x1, y1), veil)

    def set_image(self, image: Image.Image) -> None:
        """Go on with another picture of the same size."""
        self.image = image
        self.paint_draw = ImageDraw.Draw(image, "RGBA")
