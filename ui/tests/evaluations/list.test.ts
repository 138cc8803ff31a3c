import { describe, expect, test } from 'vitest';
import {
  decodedId,
  evaluationPath,
  filterOptions,
  filterTotal,
  holds,
  inputPreview,
  itemFilter,
  itemPath,
  itemQuery,
  oneLine,
} from '@/screens/evaluations/itemFilters';
import {
  facets,
  isFiltered,
  listFilters,
  listPath,
  matches,
  rememberList,
} from '@/screens/evaluations/list/filters';
import {
  endsOf,
  isLive,
  resultOf,
  spending,
  type EvaluationLine,
  type EvaluationResult,
  type ItemRun,
  type Refinement,
} from '@/screens/evaluations/result';

function address(text: string) {
  const values = new URLSearchParams(text);
  return {
    get: (name: string) => values.get(name) ?? '',
    getAll: (name: string) => values.getAll(name),
  };
}

const REFINE = {
  active: true,
  why_inactive: null,
  model: 'openai/editor',
  limit: 2,
  threshold: 0.8,
  answer: 'latest',
  judges: ['openai/judge'],
} as const;

function line(changes: Partial<EvaluationLine> = {}): EvaluationLine {
  return {
    experiment_id: '01a1-first',
    name: 'Reminders, refined',
    type: 'regular',
    status: 'completed',
    agent: 'reminders',
    agent_version: 1,
    suite: 'letters',
    dataset_id: null,
    optimization_id: null,
    planned_items: 20,
    refine: { ...REFINE, judges: [...REFINE.judges] },
    created_at: '2026-11-16T12:00:00Z',
    updated_at: '2026-11-16T12:01:00Z',
    ...changes,
  };
}

const USAGE = { calls: 1, input_tokens: 1, output_tokens: 1, cached_tokens: 0, cost_usd: 0.1 };

function result(refinement: Partial<Refinement> | null): EvaluationResult {
  return {
    score: 0.5,
    score_interval: [0.4, 0.6],
    pass_rate: 0.7,
    pass_interval: [0.5, 0.8],
    items: 1234,
    failed: 6,
    errors: 0,
    cached: 0,
    usage: USAGE,
    avg_latency_ms: 12,
    warnings: [],
    refinement: refinement as Refinement | null,
  };
}

function run(changes: Partial<ItemRun> = {}): ItemRun {
  return {
    item_id: 'r01',
    repeat: 0,
    split: null,
    input: { id: 'r01', task: 'Pay the Invoice' },
    output: { text: 'Please pay.' },
    score: 0.9,
    passed: true,
    scores: [],
    error: null,
    latency_ms: 1,
    cached: false,
    usage: USAGE,
    refinement: null,
    rounds: [],
    ...changes,
  };
}

describe('the list of evaluations', () => {
  test('reads its filters from the address and drops what it does not know', () => {
    const found = listFilters(address('q=x&status=failed&status=odd&agent=a&refined=perhaps'));
    expect(found).toEqual({ q: 'x', statuses: ['failed'], agent: 'a', suite: '', refined: '' });
    expect(isFiltered(found)).toBe(true);
    expect(isFiltered(listFilters(address('q=%20&new=1')))).toBe(false);
  });

  test('finds by name, agent, suite, model and the beginning of the id', () => {
    const sought = (q: string) => matches(line(), listFilters(address(`q=${q}`)));
    expect(['REFINED', 'remind', 'letter', 'editor', '01A1'].map(sought)).toEqual(
      Array.from({ length: 5 }, () => true),
    );
    expect(['first', 'judge', 'nothing'].map(sought)).toEqual([false, false, false]);
  });

  test('tells refined, inactive and plain ones apart', () => {
    const kept = (refined: string, refine: EvaluationLine['refine']) =>
      matches(line({ refine }), listFilters(address(`refined=${refined}`)));
    const idle = { ...REFINE, judges: [], active: false };
    expect([kept('none', null), kept('inactive', idle), kept('active', idle)]).toEqual([
      true,
      true,
      false,
    ]);
  });

  test('counts what can be chosen, and remembers the list without its dialog', () => {
    expect(facets(['b', 'a', 'b'])).toEqual([
      { value: 'a', count: 1 },
      { value: 'b', count: 2 },
    ]);
    rememberList('agent=a&new=1&from=x');
    expect(listPath()).toBe('/evaluations?agent=a');
    rememberList('');
    expect(listPath()).toBe('/evaluations');
  });
});

describe('results', () => {
  test('are none before the first item', () => {
    expect(resultOf({ result: null })).toBeNull();
    expect(resultOf(undefined)).toBeNull();
    expect(['pending', 'running', 'completed', undefined].map(isLive)).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });

  test('name who spent, the dearest first, and how rounds ended', () => {
    const spent = spending({
      ...USAGE,
      by_purpose: {
        agent: { ...USAGE, cost_usd: 0.1 },
        refine: { ...USAGE, cost_usd: 0.3 },
        judge: { ...USAGE, calls: 0 },
      },
    });
    expect(spent.map((one) => one.who)).toEqual(['optimizer', 'agent']);
    expect(endsOf({ ended: { limit: 6, threshold: 14, perfect: 0 } })).toEqual([
      { end: 'threshold', outputs: 14 },
      { end: 'limit', outputs: 6 },
    ]);
  });
});

describe('filters of items', () => {
  test('become queries of the server', () => {
    expect(itemFilter('odd')).toBe('all');
    expect(['all', 'failing', 'limit', 'fixed', 'refined'].map(itemFilter).map(itemQuery)).toEqual([
      {},
      { failing: true },
      { ended: 'limit' },
      { outcome: 'fixed' },
      { outcome: 'refined' },
    ]);
  });

  test('say how many they show, and those of refinement only where there is any', () => {
    const refined = result({
      active: true,
      fixed: 12,
      improved: 1,
      unchanged: 3,
      worsened: 2,
      ended: { limit: 6 },
    });
    expect(filterOptions(refined, 'all').map((one) => one.label)).toEqual([
      'All 1,234',
      'Failing 6',
      'Fixed 12',
      'Improved 1',
      'Unchanged 3',
      'Worsened 2',
      'Hit the limit 6',
    ]);
    expect(filterOptions(result(null), 'fixed').map((one) => one.label)).toEqual([
      'All 1,234',
      'Failing 6',
      'Fixed 0',
    ]);
    expect(filterTotal(result({ ended: {} }), 'limit')).toBe(0);
  });

  test('search the row, the answer, every round and the error', () => {
    const refined = run({
      rounds: [
        {
          output: { text: 'a curt draft' },
          reason: 'No greeting.',
        } as unknown as ItemRun['rounds'][number],
      ],
      error: { message: 'gone away' },
    });
    for (const text of ['r01', 'invoice', 'please', 'curt', 'greeting', 'AWAY', ' '])
      expect(holds(refined, text)).toBe(true);
    expect(holds(refined, 'friday')).toBe(false);
    expect(holds(run({ input: null, output: null }), 'please')).toBe(false);
  });

  test('go along to a test and back', () => {
    const given = run({ item_id: 'a/b c?', repeat: 2 });
    expect(itemPath('e1', given, 'filter=fixed&q=due&tab=x')).toBe(
      '/evaluations/e1/items/a%2Fb%20c%3F?filter=fixed&q=due&repeat=2',
    );
    expect(itemPath('e1', run(), '')).toBe('/evaluations/e1/items/r01');
    expect(evaluationPath('e1', 'filter=fixed&repeat=2&view=text')).toBe(
      '/evaluations/e1?filter=fixed',
    );
    expect([decodedId('a%2Fb'), decodedId('50%')]).toEqual(['a/b', '50%']);
  });

  test('show texts on one line, without the id twice', () => {
    expect(oneLine('a\n\n b', 10)).toBe('a b');
    expect(oneLine('abcdef', 4)).toBe('abc…');
    expect(inputPreview(run())).toBe('Pay the Invoice');
  });
});
