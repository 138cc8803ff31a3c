import { expect, it } from 'vitest';
import { bars, heldOutWords, refusedBySection, saved } from '@/screens/run/compression/figures';

it('draws bars against the longest section', () => {
  const drawn = bars([
    { path: 'system', before: 200, after: 50 },
    { path: 'user', before: 0, after: 0 },
  ]);
  expect(drawn.map((one) => [one.wide, one.narrow])).toEqual([
    [1, 0.25],
    [0, 0],
  ]);
  expect(saved(200, 50)).toBe('−75%');
  expect(saved(0, 0)).toBe('–');
});

it('says what the held-out items say, and nothing more', () => {
  const seen = {
    baseline_score: 0.9,
    best_score: 0.8,
    items: 40,
    delta: -0.1,
    ci_low: -0.2,
    ci_high: -0.01,
    p_value: 0.01,
  };
  const words = (refuted: boolean, held_out: typeof seen | null) =>
    heldOutWords({ refuted, held_out, confirmation: 'the budget was used up' });
  expect(words(true, seen)).toEqual({
    tone: 'bad',
    text:
      'Worse: −0.100 on 40 items that no cut was chosen on (95% interval −0.200 to −0.010). ' +
      'The short prompt should not be used.',
  });
  expect(words(false, seen).tone).toBe('good');
  expect(words(false, null)).toEqual({
    tone: 'warn',
    text: 'Not checked on held-out items: the budget was used up.',
  });
});

it('groups refused cuts by section, the largest first', () => {
  const edit = (section_path: string, token_reduction: number) => ({
    section_path,
    token_reduction,
    edit: '',
    regression_count: 1,
    reason: '',
    item_ids: [],
  });
  const groups = refusedBySection([edit('system', 3), edit('user', 9), edit('system', 7)]);
  expect(groups.map((one) => [one.section, one.edits.map((e) => e.token_reduction)])).toEqual([
    ['system', [7, 3]],
    ['user', [9]],
  ]);
});
