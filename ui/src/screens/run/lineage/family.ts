import { front, isFull, type Point, type PointSet } from '../points';

/** Who came from whom, by candidate numbers. */
export interface Family {
  /** All candidates that can be shown. */
  points: ReadonlyMap<number, Point>;
  parents: ReadonlyMap<number, readonly number[]>;
  /** By first parent: every candidate hangs at one place only. */
  children: ReadonlyMap<number, readonly number[]>;
  roots: readonly number[];
}

/** Whether the client told of no lineage at all; none is made up then. */
export function lineageMissing(set: PointSet): boolean {
  const others = set.points.filter((point) => point.kind !== 'baseline');
  return others.length > 0 && others.every((point) => point.parents.length === 0);
}

/** Candidates that ran on mini-batches only are left out unless wanted; their children move up. */
export function familyOf(set: PointSet, miniBatches: boolean): Family {
  const points = new Map<number, Point>();
  for (const [number, point] of set.byNumber)
    if (miniBatches || isFull(point)) points.set(number, point);
  const parents = new Map<number, readonly number[]>();
  const children = new Map<number, number[]>();
  const roots: number[] = [];
  for (const number of points.keys()) {
    const above = shownParents(number, set, points);
    parents.set(number, above);
    const first = above[0];
    const siblings = first === undefined ? roots : children.get(first);
    if (siblings) siblings.push(number);
    else if (first !== undefined) children.set(first, [number]);
  }
  return { points, parents, children, roots };
}

function shownParents(
  number: number,
  set: PointSet,
  shown: ReadonlyMap<number, Point>,
): readonly number[] {
  const direct = set.byNumber.get(number)?.parents ?? [];
  if (direct.every((parent) => shown.has(parent))) return direct;
  const found = new Set<number>();
  const seen = new Set([number]);
  const waiting = [...direct].reverse();
  for (let one = waiting.pop(); one !== undefined; one = waiting.pop()) {
    if (seen.has(one)) continue;
    seen.add(one);
    if (shown.has(one)) found.add(one);
    else waiting.push(...[...(set.byNumber.get(one)?.parents ?? [])].reverse());
  }
  return [...found];
}

/** A candidate and all it came from. */
export function ancestry(family: Family, number: number | null): Set<number> {
  const found = new Set<number>();
  const waiting = number === null || !family.points.has(number) ? [] : [number];
  for (let one = waiting.pop(); one !== undefined; one = waiting.pop()) {
    if (found.has(one)) continue;
    found.add(one);
    waiting.push(...(family.parents.get(one) ?? []));
  }
  return found;
}

export function bestNumber(set: PointSet): number | null {
  return set.points.find((point) => point.candidate_id === set.best)?.number ?? null;
}

/** More than this are not shown unasked. */
export const MOST = 300;
/** Beyond that only so many: fewer are easier to read, and the rest is a click away. */
const FEW = 140;
const RECENT = 30;
/** What leads to a newest one is shown when it is no longer than this. */
const SHORT = 3;

/**
 * What is shown unasked: all while they are few; else the best path, the front and the newest, with
 * what leads to them where that is short.
 */
export function worthShowing(family: Family, set: PointSet, most = MOST): Set<number> {
  const few = Math.min(most, FEW);
  if (family.points.size <= most) return new Set(family.points.keys());
  const kept = new Set<number>();
  const best = bestNumber(set);
  const path = [...ancestry(family, best)].sort((one, other) => one - other);
  const room = Math.floor(few / 2);
  // A path of hundreds of steps shows how it began and how it ended.
  const steps = path.length <= room ? path : [...path.slice(0, 12), ...path.slice(12 - room)];
  steps.forEach((number) => kept.add(number));
  const newest = [...family.points.keys()].sort((one, other) => other - one).slice(0, RECENT);
  const fronts = front(set.points, 'tokens').map((point) => point.number);
  for (const number of [...family.roots.slice(0, 5), ...fronts, ...newest]) {
    if (kept.size >= few) break;
    for (const one of leadingTo(family, number, kept)) kept.add(one);
  }
  return kept;
}

/** A candidate with what leads to it from those kept; it alone where that is long. */
function leadingTo(family: Family, number: number, kept: ReadonlySet<number>): number[] {
  const found: number[] = [];
  const waiting = [number];
  for (let one = waiting.pop(); one !== undefined; one = waiting.pop()) {
    if (kept.has(one) || found.includes(one) || !family.points.has(one)) continue;
    found.push(one);
    if (found.length > SHORT) return [number];
    waiting.push(...(family.parents.get(one) ?? []));
  }
  return found;
}

export interface ShownNode {
  id: string;
  /** The candidate; of a bundle, the one that it hangs at, null at the top. */
  number: number | null;
  kind: 'candidate' | 'bundle';
  /** Of a bundle: how many candidates are in it. */
  hidden: number;
  /** Whether it has children in sight, to fold away. */
  folds: boolean;
}

export interface ShownEdge {
  id: string;
  from: string;
  to: string;
  /** Candidates left out between the two. */
  between: number;
  lit: boolean;
  /** From another parent than the first: a merge. */
  merged: boolean;
}

export interface Shown {
  nodes: ShownNode[];
  edges: ShownEdge[];
}

/** What a person opened and folded. */
export interface Folding {
  opened: ReadonlyMap<number, number>;
  folded: ReadonlySet<number>;
}

/** So many children come out of a bundle at once. */
export const PORTION = 24;
const TOP = -1;

function unfolded(family: Family, keep: ReadonlySet<number>, folding: Folding): Set<number> {
  const shown = new Set(keep);
  for (const [number, portions] of folding.opened) {
    const below = number === TOP ? family.roots : (family.children.get(number) ?? []);
    below
      .filter((child) => !keep.has(child))
      .map((child) => ({ child, score: family.points.get(child)?.score ?? -Infinity }))
      .sort((one, other) => other.score - one.score || one.child - other.child)
      .slice(0, portions * PORTION)
      .forEach(({ child }) => shown.add(child));
  }
  return shown;
}

/** Nodes and edges in sight; what is not hangs as a bundle at the nearest one that is. */
export function shownOf(
  family: Family,
  keep: ReadonlySet<number>,
  folding: Folding,
  path: ReadonlySet<number>,
): Shown {
  const wanted = unfolded(family, keep, folding);
  /** For each candidate the nearest one in sight at or above it. */
  const over = new Map<number, number>();
  const hidden = new Map<number, number>();
  const order: number[] = [];
  const waiting = family.roots.map((number) => ({ number, above: TOP, closed: false })).reverse();
  for (let one = waiting.pop(); one !== undefined; one = waiting.pop()) {
    const { number, above, closed } = one;
    const inSight = !closed && wanted.has(number);
    if (inSight) order.push(number);
    else hidden.set(above, (hidden.get(above) ?? 0) + 1);
    const here = inSight ? number : above;
    over.set(number, here);
    const shut = closed || folding.folded.has(number);
    for (const child of [...(family.children.get(number) ?? [])].reverse())
      waiting.push({ number: child, above: here, closed: shut });
  }
  const edges = order.flatMap((number) => edgesTo(number, family, over, path));
  const folds = new Set(edges.map((edge) => edge.from));
  const nodes = order.map((number): ShownNode => {
    const id = String(number);
    return { id, number, kind: 'candidate', hidden: 0, folds: folds.has(id) };
  });
  for (const [number, count] of hidden) {
    const id = `more-${number}`;
    const above = number === TOP ? null : number;
    nodes.push({ id, number: above, kind: 'bundle', hidden: count, folds: false });
    if (above !== null)
      edges.push({
        id: `${number}>${id}`,
        from: String(number),
        to: id,
        between: 0,
        lit: false,
        merged: false,
      });
  }
  return { nodes, edges };
}

function edgesTo(
  number: number,
  family: Family,
  over: ReadonlyMap<number, number>,
  path: ReadonlySet<number>,
): ShownEdge[] {
  const found = new Map<number, ShownEdge>();
  for (const parent of family.parents.get(number) ?? []) {
    const from = over.get(parent);
    if (from === undefined || from === TOP || from === number || found.has(from)) continue;
    found.set(from, {
      id: `${from}>${number}`,
      from: String(from),
      to: String(number),
      between: from === parent ? 0 : stepsBetween(family, number, parent, from),
      lit: path.has(from) && path.has(number),
      merged: found.size > 0,
    });
  }
  return [...found.values()];
}

function stepsBetween(family: Family, number: number, parent: number, until: number): number {
  let steps = 0;
  const seen = new Set([number]);
  for (let one: number | undefined = parent; one !== undefined && one !== until;) {
    if (seen.has(one)) break;
    seen.add(one);
    steps += 1;
    one = family.parents.get(one)?.[0];
  }
  return steps;
}

/** The next portion out of a bundle, or all that was folded away. */
export function open(folding: Folding, number: number | null): Folding {
  const at = number ?? TOP;
  if (folding.folded.has(at)) {
    const folded = new Set(folding.folded);
    folded.delete(at);
    return { ...folding, folded };
  }
  return { ...folding, opened: new Map(folding.opened).set(at, (folding.opened.get(at) ?? 0) + 1) };
}

export function fold(folding: Folding, number: number): Folding {
  return { ...folding, folded: new Set(folding.folded).add(number) };
}

/** Where a score lies between the lowest and the highest, from 0 to 1; null without a score. */
export function shareOf(score: number | null, low: number, high: number): number | null {
  if (score === null) return null;
  return high > low ? (score - low) / (high - low) : 1;
}
