import { describe, expect, test } from 'vitest';
import {
  ancestry,
  familyOf,
  fold,
  lineageMissing,
  open,
  PORTION,
  shareOf,
  shownOf,
  worthShowing,
  type Folding,
} from '@/screens/run/lineage/family';
import { move } from '@/screens/run/lineage/places';
import { arrange } from '@/components/graph/layout';
import { point, setOf } from './pointsGiven';

const NOTHING: Folding = { opened: new Map(), folded: new Set() };
const small = setOf(
  [
    point({ number: 0, kind: 'baseline' }),
    point({ number: 1, parents: [0] }),
    point({ number: 2, parents: [1], kind: 'mini-batch' }),
    point({ number: 3, parents: [2] }),
    point({ number: 4, parents: [1, 3], score: 0.9 }),
    point({ number: 5, parents: [0] }),
  ],
  'c4',
);

/** A tree of which every fifth candidate follows the one before. */
function large(count: number) {
  return setOf(
    Array.from({ length: count }, (_, number) =>
      point({
        number,
        kind: number === 0 ? 'baseline' : 'trial',
        parents: number === 0 ? [] : [number % 5 === 0 ? number - 1 : Math.floor(number / 3)],
        score: ((number * 7919) % 1000) / 1000,
      }),
    ),
    'c4000',
  );
}

function shown(set: ReturnType<typeof setOf>, folding = NOTHING, mini = false) {
  const family = familyOf(set, mini);
  return shownOf(family, worthShowing(family, set), folding, ancestry(family, 4));
}

describe('lineage', () => {
  test('without parents it was not sent; a lone baseline is no such case', () => {
    const flat = setOf([point({ number: 0, kind: 'baseline' }), point({ number: 1 })]);

    expect(lineageMissing(flat)).toBe(true);
    expect(lineageMissing(small)).toBe(false);
    expect(lineageMissing(setOf([point({ number: 0, kind: 'baseline' })]))).toBe(false);
  });

  test('who ran on mini-batches only is left out, and its children move up', () => {
    const family = familyOf(small, false);

    expect([...family.points.keys()]).toEqual([0, 1, 3, 4, 5]);
    expect(family.parents.get(3)).toEqual([1]);
    expect(familyOf(small, true).parents.get(3)).toEqual([2]);
  });

  test('the way to the best has all its parents', () => {
    expect([...ancestry(familyOf(small, false), 4)].sort()).toEqual([0, 1, 3, 4]);
    expect(ancestry(familyOf(small, false), null).size).toBe(0);
  });

  test('a small run is shown whole, with both parents of a merge', () => {
    const { nodes, edges } = shown(small);

    expect(nodes.filter((node) => node.kind === 'bundle')).toEqual([]);
    expect(edges.map((edge) => edge.id).sort()).toEqual(['0>1', '0>5', '1>3', '1>4', '3>4']);
    expect(edges.filter((edge) => !edge.lit).map((edge) => edge.id)).toEqual(['0>5']);
  });

  test('folding hides what hangs below, opening brings it back', () => {
    const folded = fold(NOTHING, 1);

    const after = shown(small, folded);

    expect(after.nodes.map((node) => [node.id, node.hidden])).toEqual([
      ['0', 0],
      ['1', 0],
      ['5', 0],
      ['more-1', 2],
    ]);
    expect(shown(small, open(folded, 1)).nodes).toHaveLength(5);
  });

  test('of ten thousand few are in sight, none is lost, and the best path is there', () => {
    const set = large(10_000);
    const family = familyOf(set, false);
    const path = ancestry(family, 4000);
    const { nodes } = shownOf(family, worthShowing(family, set), NOTHING, path);
    const seen = nodes.filter((node) => node.kind === 'candidate');

    expect(seen.length).toBeLessThanOrEqual(300);
    expect(seen.length + nodes.reduce((sum, node) => sum + node.hidden, 0)).toBe(10_000);
    const ids = new Set(seen.map((node) => node.number));
    for (const number of path) expect(ids.has(number)).toBe(true);
    expect(ids.has(9999)).toBe(true);
  });

  test('a bundle opens by portions', () => {
    const set = setOf([
      point({ number: 0, kind: 'baseline' }),
      ...Array.from({ length: 900 }, (_, index) => point({ number: index + 1, parents: [0] })),
    ]);
    const before = shown(set);

    const after = shown(set, open(NOTHING, 0));

    expect(after.nodes.length - before.nodes.length).toBe(PORTION);
  });

  test('a chain of thousands shows its beginning and its end', () => {
    const set = setOf(
      Array.from({ length: 5_000 }, (_, number) =>
        point({ number, parents: number === 0 ? [] : [number - 1] }),
      ),
      'c4999',
    );
    const { nodes, edges } = shown(set);

    expect(nodes.length).toBeLessThan(310);
    expect(edges.some((edge) => edge.between > 4_000)).toBe(true);
  });

  test('parents that go in a circle end the search', () => {
    const set = setOf([
      point({ number: 1, parents: [2], kind: 'mini-batch' }),
      point({ number: 2, parents: [1], kind: 'mini-batch' }),
      point({ number: 3, parents: [1] }),
    ]);

    expect(familyOf(set, false).parents.get(3)).toEqual([]);
    expect(ancestry(familyOf(set, true), 1).size).toBe(2);
  });

  test('parents stand left of their children, and the keys follow', () => {
    const now = shown(small);
    const { places } = arrange({
      id: 1,
      nodes: now.nodes.map((node) => ({ id: node.id, width: 148, height: 44 })),
      edges: now.edges,
    });

    for (const edge of now.edges) expect(places[edge.from]!.x).toBeLessThan(places[edge.to]!.x);
    const arranged = { graph: now, places };
    expect(move(arranged, '1', 'left')).toBe('0');
    expect(['1', '5']).toContain(move(arranged, '0', 'right'));
    const [upper, lower] = places['1']!.y < places['5']!.y ? ['1', '5'] : ['5', '1'];
    expect(move(arranged, lower!, 'up')).toBe(upper);
    expect(move(arranged, upper!, 'down')).toBe(lower);
  });

  test('colours lie between the lowest and the highest score', () => {
    expect(shareOf(0.5, 0, 1)).toBe(0.5);
    expect(shareOf(0.7, 0.7, 0.7)).toBe(1);
    expect(shareOf(null, 0, 1)).toBeNull();
  });
});
