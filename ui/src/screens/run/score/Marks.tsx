import { memo, useLayoutEffect, useRef, useSyncExternalStore } from 'react';
import { MARGIN, type Placed, type Scales } from './scale';
import { lookOf, type Look } from './shapes';

/** Up to so many points are elements of their own; more are painted. */
export const MOST_ELEMENTS = 1_500;
/** Up to so many points show their intervals all at once. */
export const MOST_BARS = 400;

/** In a crowd points are smaller, and thousands of them let each other shine through. */
const CROWDED = 0.75;
const CLOUD = 0.45;

interface Drawn {
  shown: Placed;
  scales: Scales;
  best: string | null;
  bars: boolean;
}

/** All points: as elements while they are few, painted when they are thousands. */
export const Marks = memo(function Marks(drawn: Drawn) {
  return drawn.shown.marks.length > MOST_ELEMENTS ? (
    <PaintedMarks {...drawn} />
  ) : (
    <ElementMarks {...drawn} />
  );
});

function ElementMarks({ shown, scales, best, bars }: Drawn) {
  const withBars = bars && shown.marks.length <= MOST_BARS;
  return (
    <svg
      className="score-layer"
      width={scales.width}
      height={scales.height}
      aria-hidden="true"
      data-marks={shown.marks.length}
    >
      {withBars &&
        shown.marks.map(({ point }, index) =>
          point.score === null || point.ci_low === null || point.ci_high === null ? null : (
            <line
              key={point.experiment_id}
              className="score-bar"
              x1={shown.xs[index]}
              x2={shown.xs[index]}
              y1={Math.min(scales.y(point.ci_low), scales.floor)}
              y2={Math.max(scales.y(point.ci_high), MARGIN.top)}
            />
          ),
        )}
      {shown.marks.map(({ point }, index) => {
        const look = lookOf(point, best);
        return (
          <path
            key={point.experiment_id}
            d={look.path}
            transform={`translate(${shown.xs[index]},${shown.ys[index]})`}
            className={look.id === 'running' ? 'score-running' : undefined}
            style={styleOf(look)}
          />
        );
      })}
    </svg>
  );
}

export function styleOf(look: Look): React.CSSProperties {
  const colour = `var(${look.colour})`;
  return look.drawn === 'filled'
    ? { fill: colour, stroke: 'var(--surface)', strokeWidth: 1 }
    : { fill: 'var(--surface)', stroke: colour, strokeWidth: 2 };
}

function PaintedMarks({ shown, scales, best }: Drawn) {
  const element = useRef<HTMLCanvasElement>(null);
  const theme = useSyncExternalStore(onTheme, () => document.documentElement.dataset.theme);
  useLayoutEffect(() => {
    if (element.current) paint(element.current, shown, scales, best);
  }, [shown, scales, best, theme]);
  return (
    <canvas
      ref={element}
      className="score-layer"
      style={{ width: scales.width, height: scales.height }}
      aria-hidden="true"
      data-marks={shown.marks.length}
    />
  );
}

function onTheme(tell: () => void): () => void {
  const watch = new MutationObserver(tell);
  watch.observe(document.documentElement, { attributeFilter: ['data-theme'] });
  return () => watch.disconnect();
}

/** What matters is painted last, so that it lies on top. */
function weight(look: Look): number {
  return ['mini', 'failed', 'cancelled', 'pruned', 'completed'].indexOf(look.id) + 1 || 9;
}

function paint(canvas: HTMLCanvasElement, shown: Placed, scales: Scales, best: string | null) {
  const context = canvas.getContext('2d');
  if (!context) return;
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.round(scales.width * ratio);
  canvas.height = Math.round(scales.height * ratio);
  const colours = getComputedStyle(canvas);
  const groups = new Map<Look, number[]>();
  shown.marks.forEach(({ point }, index) => {
    const look = lookOf(point, best);
    const group = groups.get(look);
    if (group) group.push(index);
    else groups.set(look, [index]);
  });
  const ordered = [...groups].sort(([one], [other]) => weight(one) - weight(other));
  for (const [look, indices] of ordered) {
    if (indices.length > MOST_ELEMENTS) {
      context.drawImage(cloudOf(look, indices, shown, canvas, ratio, colours), 0, 0);
      continue;
    }
    // The few that stand out stay whole.
    const crowd = indices.length > 20;
    const stamp = stampOf(look, ratio * (crowd ? CROWDED : 1), crowd, colours);
    context.globalAlpha = crowd ? 0.7 : 1;
    const half = stamp.width / 2;
    for (const index of indices)
      context.drawImage(
        stamp,
        Math.round((shown.xs[index] ?? 0) * ratio - half),
        Math.round((shown.ys[index] ?? 0) * ratio - half),
      );
    context.globalAlpha = 1;
  }
}

/** One picture of thousands of equal points: as many drawings would take too long. */
function cloudOf(
  look: Look,
  indices: readonly number[],
  shown: Placed,
  { width, height }: { width: number; height: number },
  ratio: number,
  colours: CSSStyleDeclaration,
): OffscreenCanvas {
  const stamp = stampOf(look, ratio * CROWDED, true, colours);
  const drawn = stamp.getContext('2d')?.getImageData(0, 0, stamp.width, stamp.height).data;
  const covers = new Uint8ClampedArray(stamp.width * stamp.height);
  covers.forEach((_, index) => (covers[index] = drawn?.[index * 4 + 3] ?? 0));
  const places = indices.map(
    (index) => [(shown.xs[index] ?? 0) * ratio, (shown.ys[index] ?? 0) * ratio] as const,
  );
  const covered = cloud(width, height, places, { size: stamp.width, covers }, CLOUD);
  const picture = new OffscreenCanvas(width, height);
  const context = picture.getContext('2d');
  if (!context) return picture;
  const image = context.createImageData(width, height);
  const middle = 4 * ((stamp.height >> 1) * stamp.width + (stamp.width >> 1));
  const [red = 0, green = 0, blue = 0] = drawn?.subarray(middle, middle + 3) ?? [];
  covered.forEach((cover, index) => {
    if (cover === 0) return;
    image.data[index * 4] = red;
    image.data[index * 4 + 1] = green;
    image.data[index * 4 + 2] = blue;
    image.data[index * 4 + 3] = cover;
  });
  context.putImageData(image, 0, 0);
  return picture;
}

/** A shape drawn once, as small as it goes. */
function stampOf(
  look: Look,
  size: number,
  crowd: boolean,
  colours: CSSStyleDeclaration,
): OffscreenCanvas {
  const reach = Math.ceil(size * (look.id === 'best' || look.id === 'baseline' ? 18 : 12));
  const stamp = new OffscreenCanvas(reach, reach);
  const context = stamp.getContext('2d', { willReadFrequently: true });
  if (!context) return stamp;
  const filled = look.drawn === 'filled';
  context.setTransform(size, 0, 0, size, reach / 2, reach / 2);
  context.fillStyle = colours.getPropertyValue(filled ? look.colour : '--surface');
  context.strokeStyle = colours.getPropertyValue(filled ? '--surface' : look.colour);
  context.lineWidth = filled ? 1 : 2;
  const path = new Path2D(look.path);
  if (filled || !crowd) context.fill(path);
  if (!filled || !crowd) context.stroke(path);
  return stamp;
}

/** Thousands of equal dots, blended by hand: one pass over a few pixels each. */
interface Mask {
  size: number;
  /** How much of each pixel the shape covers, from 0 to 255. */
  covers: Uint8ClampedArray;
}

/** How much of each pixel is covered by all dots together, from 0 to 255. */
export function cloud(
  width: number,
  height: number,
  places: Iterable<readonly [number, number]>,
  mask: Mask,
  strength: number,
): Uint8ClampedArray {
  // What shines through: dots on top of each other cover more, and never more than all.
  const through = new Uint8ClampedArray(width * height).fill(255);
  const { size, covers } = mask;
  const half = size / 2;
  for (const [x, y] of places) {
    const left = Math.round(x - half);
    const top = Math.round(y - half);
    for (let row = 0; row < size; row += 1) {
      const line = top + row;
      if (line < 0 || line >= height) continue;
      for (let column = 0; column < size; column += 1) {
        const covered = covers[row * size + column] ?? 0;
        const at = left + column;
        if (covered === 0 || at < 0 || at >= width) continue;
        const index = line * width + at;
        through[index] = ((through[index] ?? 255) * (255 - covered * strength)) / 255;
      }
    }
  }
  for (let index = 0; index < through.length; index += 1)
    through[index] = 255 - (through[index] ?? 255);
  return through;
}
