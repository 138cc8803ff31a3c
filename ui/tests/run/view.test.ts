import { describe, expect, it } from 'vitest';
import { condensed } from '@/screens/run/Outcome';
import { eventWords, hasGap, joined } from '@/screens/run/EventsPanel';
import {
  proposalWords,
  proposedText,
  reasonCounts,
  reasonWords,
} from '@/screens/run/RejectionsPanel';
import { limitsOf, purposesOf } from '@/screens/run/Spend';
import { actionsOf, patchedRun, tabOf, type RunView } from '@/screens/run/view';
import { chance } from '@/lib/evidence';
import {
  evidenceWords,
  explained,
  GRACE_MS,
  overruledWords,
  points,
  stopWords,
} from '@/screens/run/words';
import type { RunEvent } from '@/live/useStream';

const none = {
  trials: null,
  evaluations: null,
  calls: null,
  tokens: null,
  cost_usd: null,
  seconds: null,
};

function run(changes: Partial<RunView> = {}): RunView {
  return {
    optimization_id: 'a',
    status: 'running',
    state: 'running',
    owned: true,
    stop_reason: null,
    best_score: 0.5,
    baseline_score: 0.5,
    best_candidate_id: 'a-0',
    explanation: null,
    framework_error: null,
    result: null,
    compression: false,
    by_client: false,
    python_call: null,
    waiting: [],
    counters: {
      running: 1,
      completed: 2,
      pruned: 0,
      failed: 0,
      rejected: 0,
      candidates: 3,
      mini_batches: 0,
    },
    usage: {
      calls: 0,
      input_tokens: 0,
      output_tokens: 0,
      cached_tokens: 0,
      cost_usd: 0,
      by_purpose: {},
    },
    budget: {
      limits: { ...none, evaluations: 1000, cost_usd: 2 },
      used: { ...none, evaluations: 250, cost_usd: 0.5 },
      left: { ...none, evaluations: 750, cost_usd: 1.5 },
    },
    ...changes,
  } as RunView;
}

const event = (type: RunEvent['type'], payload: Record<string, unknown>): RunEvent => ({
  optimization_id: 'a',
  sequence: 9,
  type,
  created_at: '2026-01-01T00:00:00Z',
  payload,
});

describe('events', () => {
  it('change the status, the counters, the best and the budget of a run', () => {
    const steps = [
      event('progress_changed', { running: 4, rejected: 2, evaluations: 400 }),
      event('best_candidate_changed', { candidate_id: 'a-7', score: 0.9 }),
      event('run_finished', { status: 'completed', stop_reason: 'budget' }),
    ];

    const after = steps.reduce(patchedRun, run());

    expect(after).toMatchObject({ status: 'completed', stop_reason: 'budget', best_score: 0.9 });
    expect(after.counters).toMatchObject({ running: 4, rejected: 2, completed: 2 });
    expect(after.budget.left.evaluations).toBe(600);
  });

  it('count as the snapshot does, but for those of older runs', () => {
    const counted = { running: 1, completed: 5, failed: 1, cancelled: 1, proposed: 9 };

    expect(patchedRun(run(), event('progress_changed', counted)).counters).toMatchObject(counted);
    const old = patchedRun(run(), event('progress_changed', { running: 1, completed: 13 }));
    expect(old.counters).toMatchObject({ running: 1, completed: 2 });
  });

  it('of another run change nothing', () => {
    const before = run();

    expect(patchedRun(before, { ...event('run_finished', {}), optimization_id: 'b' })).toBe(before);
  });

  it('stand once in the log, the newest first', () => {
    const logged = [3, 2, 1].map((sequence) => ({
      sequence,
      type: 'progress_changed',
      created_at: '',
      payload: {},
    }));
    const live = [2, 3, 4, 5].map((sequence) => ({
      sequence,
      type: 'progress_changed',
      created_at: '',
      payload: {},
    }));

    expect(joined(logged, live).map((one) => one.sequence)).toEqual([5, 4, 3, 2, 1]);
    expect(hasGap(logged, live)).toBe(false);
    expect(hasGap(logged, live.slice(3))).toBe(true);
  });

  it('are told in words', () => {
    const words = (type: string, payload: Record<string, unknown>) =>
      eventWords({ sequence: 1, type, created_at: '', payload });

    expect(
      words('trial_added_or_updated', {
        candidate_id: 'x-3',
        number: 3,
        type: 'trial',
        status: 'completed',
        score: 0.5,
      }),
    ).toBe('Candidate 3: completed, score 0.500');
    expect(
      words('trial_added_or_updated', {
        candidate_id: 'x-3',
        number: 3,
        type: 'mini_batch',
        status: 'running',
      }),
    ).toBe('Candidate 3 on a mini-batch: running');
    expect(words('best_candidate_changed', { candidate_id: 'x-0', score: 0.5 })).toBe(
      'The baseline is the best, with score 0.500',
    );
    expect(words('run_finished', { status: 'completed', stop_reason: 'no_improvement' })).toBe(
      'It ended as completed, because of: no improvement',
    );
    expect(words('progress_changed', { running: 1200, completed: 2 })).toBe(
      '1,200 running · 2 completed',
    );
  });
});

describe('what can be done', () => {
  it('depends on how the run stands', () => {
    expect(actionsOf(run())).toEqual(['stop', 'duplicate', 'report']);
    expect(actionsOf(run({ owned: false }))[0]).toBe('resume');
    expect(actionsOf(run({ status: 'initialized' }))[0]).toBe('start');
    expect(actionsOf(run({ status: 'cancelled' }))[0]).toBe('again');
    expect(actionsOf(run({ status: 'completed' }))).toEqual(['duplicate', 'report']);
    // What another program runs can neither be copied nor gone on with.
    expect(actionsOf(run({ by_client: true }))).toEqual(['stop', 'report']);
    expect(actionsOf(run({ by_client: true, status: 'failed' }))).toEqual(['report']);
    expect(actionsOf(run({ python_call: 'f()', owned: false }))).toEqual(['stop', 'report']);
  });

  it('opens the tab that the address names', () => {
    expect(tabOf('trials', false)).toBe('trials');
    expect(tabOf('compression', false)).toBe('score');
    expect(tabOf('', true)).toBe('compression');
    expect(tabOf('score', true)).toBe('score');
  });
});

describe('evidence in words', () => {
  const evidence = {
    held_out: true,
    items: 132,
    missing: 0,
    baseline_score: 0.53,
    best_score: 0.71,
    delta: 0.182,
    ci_low: 0.121,
    ci_high: 0.25,
    p_value: 0.0000001,
    fixed: 24,
    broken: 0,
    proven: true,
    refuted: false,
  };

  it('says how much, on what, and how sure', () => {
    expect(evidenceWords(evidence)).toEqual({
      verdict: 'proven',
      tone: 'good',
      headline: '+18 points on 132 held-out items',
      interval: '95% interval +12 to +25 points, p < 0.001',
      items: '24 items fixed, 0 broken',
    });
  });

  it('says how many items have no answer', () => {
    expect(evidenceWords({ ...evidence, missing: 12 }).items).toBe(
      '24 items fixed, 0 broken. 12 items are left out: an answer never came, ' +
        'for reasons outside the agent.',
    );
  });

  it('says who scored higher by luck, and only then', () => {
    expect(overruledWords(evidence)).toBe('');
    const other = { candidate_id: 'a-9', number: 9, score: 0.9, why: 'gepa says so' };
    expect(overruledWords({ ...evidence, overruled: { ...other, by: 'optimizer' } })).toBe(
      'Candidate 9 scored higher in the search (0.900); gepa says so.',
    );
    expect(overruledWords({ ...evidence, overruled: { ...other, by: 'evidence' } })).toBe(
      'Candidate 9 is not the winner (0.900); gepa says so.',
    );
  });

  it('does not call proven what is not', () => {
    expect(evidenceWords({ ...evidence, proven: false }).verdict).toBe('not proven');
    expect(evidenceWords({ ...evidence, delta: 0, proven: false }, true).verdict).toBe(
      'no loss shown',
    );
    expect(evidenceWords({ ...evidence, delta: -1, refuted: true }, true).verdict).not.toBe(
      'no loss shown',
    );
    expect(
      evidenceWords({ ...evidence, proven: false, refuted: true, delta: -0.04 }),
    ).toMatchObject({
      verdict: 'worse',
      headline: '−4 points on 132 held-out items',
    });
    expect(evidenceWords({ ...evidence, proven: false, refuted: true, delta: 0 }).verdict).toBe(
      'not proven',
    );
    expect(evidenceWords({ ...evidence, of_items: 240 }).headline).toBe(
      '+18 points on 132 of 240 held-out items',
    );
    expect(evidenceWords({ ...evidence, held_out: false }).headline).toContain(
      'items of the search',
    );
  });

  it.each([
    [0.182, '+18'],
    [0.0123, '+1.2'],
    [-0.004, '−0.4'],
    [0, '0'],
    [0.0001, '0'],
  ])('shows %s as %s points', (delta, text) => expect(points(delta)).toBe(text));

  it('shows small probabilities as such', () => {
    expect([chance(0.0001), chance(0.042), chance(0.31)]).toEqual([
      'p < 0.001',
      'p = 0.042',
      'p = 0.31',
    ]);
  });
});

describe('a run that is not what was hoped for', () => {
  it('says what, why and what to do', () => {
    const failed = run({
      status: 'failed',
      framework_error: {
        code: 'x',
        message: 'the model does not answer',
        fix: 'check the key',
        retryable: true,
      },
    });

    expect(explained(failed)).toEqual({
      tone: 'bad',
      title: 'This run failed',
      why: 'The model does not answer.',
      todo: 'Check the key.',
    });
    expect(explained(run({ owned: false }))?.todo).toContain('Resume');
    const lately = run({ owned: false, updated_at: '2026-01-31T12:00:00Z' });
    const at = Date.parse(lately.updated_at);
    expect(explained(lately, at + 1_500)).toBeNull();
    expect(explained({ ...lately, status: 'initialized' }, at - 1_500)).toBeNull();
    expect(explained(lately, at + GRACE_MS)?.title).toContain('Nobody works');
    expect(patchedRun(lately, event('run_status_changed', { status: 'running' })).owned).toBe(true);
    expect(explained(run({ status: 'failed', python_call: 'f()' }))?.todo).toBe(
      'Call f() in its program: what was evaluated is kept.',
    );
    expect(explained(run({ owned: false, python_call: 'f()' }))?.todo).toContain('Call f() in');
    expect(explained(run({ status: 'initialized' }))?.title).toContain('not begun');
    expect(
      explained(run({ status: 'completed', explanation: 'no candidate was better' }))?.why,
    ).toBe('No candidate was better.');
    expect(explained(run())).toBeNull();
  });

  it('says why it ended', () => {
    expect(
      stopWords(run({ stop_reason: 'budget', result: { stop_message: 'nothing is left' } })),
    ).toBe('The budget is used up. Nothing is left.');
    expect(stopWords(run())).toBeNull();
    const done = { stop_message: 'the optimizer has nothing new to propose' };
    expect(stopWords(run({ stop_reason: 'no_candidates', result: done }))).toBe(
      'The optimizer had nothing more to propose.',
    );
  });
});

describe('what was spent', () => {
  it('is shared by purpose, by cost where there is one', () => {
    const usage = (calls: number, tokens: number, cost: number | null) => ({
      calls,
      input_tokens: tokens,
      output_tokens: 0,
      cached_tokens: 0,
      cost_usd: cost,
    });
    const spent = {
      ...run().usage,
      by_purpose: { agent: usage(10, 100, 0.3), propose: usage(1, 900, 0.1) },
    };
    const unpriced = { ...spent, by_purpose: { ...spent.by_purpose, agent: usage(10, 100, null) } };

    expect(purposesOf(run({ usage: spent })).map((one) => [one.purpose, one.share])).toEqual(
      [
        ['agent', 0.75 / 1],
        ['propose', 0.25],
      ].map(([name, share]) => [name, expect.closeTo(share as number)]),
    );
    expect(purposesOf(run({ usage: unpriced }))[0]).toMatchObject({
      purpose: 'propose',
      share: 0.9,
    });
  });

  it('is held against the limits that were set', () => {
    expect(limitsOf(run()).map((one) => [one.name, one.left, one.share])).toEqual([
      ['evaluations', 750, 0.25],
      ['cost_usd', 1.5, 0.25],
    ]);
  });
});

describe('refused proposals', () => {
  it('are counted by reason, the most frequent first', () => {
    expect(reasonCounts(['budget', 'duplicate', 'duplicate'])).toEqual([
      { code: 'duplicate', count: 2 },
      { code: 'budget', count: 1 },
    ]);
    expect(reasonWords('duplicate')).toBe('Already tried');
    expect(reasonWords('some_new_reason')).toBe('Some new reason');
  });
});

describe('a short diff', () => {
  it('leaves out what stayed the same, but for a line around each change', () => {
    const pieces = condensed([
      { kind: 'same', text: 'one\ntwo\nthree\nfour\n' },
      { kind: 'added', text: 'new\n' },
      { kind: 'same', text: 'five\nsix' },
    ]);

    expect(pieces).toEqual([
      { kind: 'left out', text: '3 lines unchanged' },
      { kind: 'same', text: 'four\n' },
      { kind: 'added', text: 'new\n' },
      { kind: 'same', text: 'five\nsix' },
    ]);
  });
});

describe('refused proposals', () => {
  it('say what they repeat, why they were made, and their text', () => {
    const proposal = {
      configuration: { sections: { system: 'Be brief.', user: '{{q}}' } },
      rationale: 'shorter',
      parent_candidate_ids: ['a-0'],
      duplicate_of: 'a-7',
    };
    expect(proposalWords({ proposal })).toBe('repeats candidate 7 · shorter');
    expect(proposalWords({ proposal: null })).toBe('');
    expect(proposedText(proposal.configuration)).toBe('system:\nBe brief.\n\nuser:\n{{q}}');
    expect(proposedText('text')).toBe('"text"');
  });
});
