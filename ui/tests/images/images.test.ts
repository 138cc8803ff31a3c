import { describe, expect, it, test } from 'vitest';
import { match, pressed, SEND } from '@/lib/keys';
import { said, say } from '@/components/shell/Toasts';
import { connectionError, newId } from '@/screens/images/client';
import {
  FIRST_FORM,
  formOf,
  nameProblem,
  promptProblem,
  requestOf,
  withTerm,
} from '@/screens/images/workbench/form';
import { historyOf, lineOf, roleOf } from '@/screens/images/history/history';
import { nextCommit, requestOf as layoutOf } from '@/screens/images/history/places';
import { optionsFor } from '@/screens/images/workbench/Models';
import { branchParent } from '@/screens/images/workbench/NextSteps';
import { poll, POLL_ATTEMPTS, POLL_MS } from '@/screens/images/run/polling';
import { endMessage, hasEnded } from '@/screens/images/run/stages';
import { partOf, RUBRIC } from '@/screens/images/rubric';
import { labelOf, standing, stepOver } from '@/screens/images/workbench/Leaderboard';
import type { ImageModels, RunStatus } from '@/screens/images/types';
import { arrange } from '@/components/graph/layout';
import { commit, rubric, run, variant } from './given';

describe('the end of a run', () => {
  it('tells a degraded end as information, not as full success', () => {
    expect(endMessage(run({ status: 'completed' })).tone).toBe('good');
    expect(endMessage(run({ status: 'completed_degraded' })).tone).toBe('info');
    const error = { code: 'X', message: 'no disk', fix: '', retryable: false };
    expect(endMessage(run({ status: 'failed', error }))).toEqual({
      text: 'The run failed: no disk',
      tone: 'bad',
    });
  });
});

describe('the parent of the next run', () => {
  const board = [variant({ commit_id: 'best' }), variant({ commit_id: 'second', rank: 2 })];
  it('is the best variant, then what the run was made from, then where it was opened', () => {
    expect(branchParent(run({ leaderboard: board }), 'opened')).toBe('best');
    expect(branchParent(run({ leaderboard: [] }), 'opened')).toBe('anchor');
    expect(branchParent(run({ leaderboard: [], anchor_commit_id: null }), 'opened')).toBe('opened');
    expect(branchParent(undefined, 'opened')).toBe('opened');
    expect(branchParent(undefined, null)).toBeNull();
  });
});

describe('keys', () => {
  const key = (name: string, held: Partial<KeyboardEvent> = {}) => ({
    key: name,
    ctrlKey: false,
    metaKey: false,
    altKey: false,
    ...held,
  });

  it('send with Ctrl or Cmd, also while somebody types', () => {
    for (const held of [{ ctrlKey: true }, { metaKey: true }])
      for (const typing of [true, false]) expect(pressed(key('Enter', held), typing)).toBe(SEND);
    expect(pressed(key('1', { ctrlKey: true }), false)).toBeNull();
    expect(pressed(key('Enter', { altKey: true, ctrlKey: true }), false)).toBeNull();
  });

  it('are letters while somebody types', () => {
    for (const name of ['1', '2', '3', 'ArrowLeft', 'ArrowRight', 'Enter']) {
      expect(pressed(key(name), true)).toBeNull();
      expect(pressed(key(name), false)).toBe(name);
    }
    expect(pressed(key('Escape'), true)).toBe('Escape');
  });

  it('find sending apart from Enter', () => {
    const all = ['Enter', SEND].map((keys) => ({ keys, says: keys, act: () => undefined }));
    expect(match(all, SEND, null)?.keys).toBe(SEND);
    expect(match(all, 'Enter', null)?.keys).toBe('Enter');
  });

  it('step over the cards and stay at the ends', () => {
    expect(stepOver(3, -1, 1)).toBe(0);
    expect(stepOver(3, -1, -1)).toBe(0);
    expect(stepOver(3, 0, 1)).toBe(1);
    expect(stepOver(3, 2, 1)).toBe(2);
    expect(stepOver(3, 0, -1)).toBe(0);
    expect(stepOver(0, -1, 1)).toBe(-1);
  });
});

describe('polling', () => {
  async function polled(answers: (number: number) => RunStatus | Error) {
    const waits: number[] = [];
    let asked = 0;
    const stopper = new AbortController();
    const outcome = await poll({
      ask: async () => {
        const found = answers(++asked);
        if (found instanceof Error) throw found;
        return { status: found };
      },
      ended: hasEnded,
      signal: stopper.signal,
      wait: async (milliseconds) => void waits.push(milliseconds),
    });
    return { outcome, asked, waits };
  }

  it('asks every 1200 ms and at most 90 times, then leaves the run to itself', async () => {
    const { outcome, asked, waits } = await polled(() => 'generating');
    expect([POLL_MS, POLL_ATTEMPTS]).toEqual([1200, 90]);
    expect(outcome).toBe('still running');
    expect(asked).toBe(90);
    expect(new Set(waits)).toEqual(new Set([1200]));
  });

  test.each<RunStatus>(['completed', 'completed_degraded', 'failed', 'cancelled'])(
    'stops at %s',
    async (last) => {
      const { outcome, asked } = await polled((number) => (number < 4 ? 'refining' : last));
      expect([outcome, asked]).toEqual(['ended', 4]);
    },
  );

  it('goes on after an answer that failed, and counts it', async () => {
    const down = new Error('down');
    expect(await polled((number) => (number < 3 ? down : 'completed'))).toMatchObject({
      outcome: 'ended',
      asked: 3,
    });
    expect((await polled(() => down)).asked).toBe(90);
  });

  it('asks no more once the page is left', async () => {
    const stopper = new AbortController();
    let asked = 0;
    const outcome = await poll({
      ask: async () => {
        asked += 1;
        stopper.abort();
        return { status: 'planning' as const };
      },
      ended: hasEnded,
      signal: stopper.signal,
      wait: async () => undefined,
    });
    expect([outcome, asked]).toEqual(['stopped', 1]);
  });
});

describe('requests that come to nothing', () => {
  it('are timeouts or a server that is away, and both can be tried again', () => {
    for (const name of ['AbortError', 'TimeoutError'])
      expect(connectionError(new DOMException('x', name))).toMatchObject({
        code: 'REQUEST_TIMEOUT',
        retryable: true,
      });
    expect(connectionError(new TypeError('Failed to fetch'))).toMatchObject({
      code: 'API_UNAVAILABLE',
      retryable: true,
    });
  });
});

describe('the form', () => {
  it('wants five characters, spaces around them left out', () => {
    expect(promptProblem('  four ')).not.toBeNull();
    expect(promptProblem(' fiver ')).toBeNull();
  });

  it('sends what was chosen, and no model that was not', () => {
    const form = { ...FIRST_FORM, prompt: ' a red house ', judgeModel: 'openai/x' };
    expect(requestOf(form, 'houses', { parent: 'c1', judged: 'a house', id: 'r9' })).toEqual({
      run_id: 'r9',
      judge_prompt: 'a house',
      project_id: 'houses',
      base_prompt: 'a red house',
      objective_preset: 'adherence',
      n_variants: 3,
      quality: 'medium',
      parent_commit_id: 'c1',
      constraints: { must_include: [], must_avoid: [] },
      judge_model: 'openai/x',
    });
  });

  it('repeats a run with the same settings', () => {
    const before = run({ constraints: { must_include: ['door'], must_avoid: ['text'] } });
    expect(
      requestOf(formOf(before), 'houses', { parent: 'c1', judged: null, id: 'r9' }),
    ).toMatchObject({
      base_prompt: before.base_prompt,
      n_variants: 2,
      image_model: 'sketch',
      judge_model: 'pixel-judge',
      text_model: 'templates',
      pairwise: false,
      constraints: before.constraints,
    });
    const paired = formOf(run({ pairwise: true }));
    const sent = requestOf(paired, 'houses', { parent: null, judged: null, id: 'r9' });
    expect(sent.pairwise).toBe(true);
  });

  it('keeps each term once', () => {
    expect(withTerm(['door'], ' door, tree ,,')).toEqual(['door', 'tree']);
  });

  it('takes names that can be paths', () => {
    expect(nameProblem('neon-diner_2.0')).toBeNull();
    for (const bad of ['', ' ', '../x', 'a/b', '.x', 'ä']) expect(nameProblem(bad)).not.toBeNull();
  });
});

describe('models', () => {
  const model = (name: string | null, changes = {}) => ({
    name,
    label: name ?? 'templates',
    default: false,
    usable: true,
    why_not: null,
    ...changes,
  });
  const models: ImageModels = {
    image_models: [
      model('sketch', { default: true }),
      model('openai/x', { usable: false, why_not: 'no key' }),
    ],
    judge_models: [],
    text_models: [model(null), model('openai/t', { default: true })],
    defaults: { image_model: 'sketch', judge_model: 'pixel-judge', text_model: null },
  };

  it('begin with the usual one, and say why another cannot be used', () => {
    const { shown, value } = optionsFor('image', models, '');
    expect(value).toBe('sketch');
    expect(shown[1]).toEqual({ value: 'openai/x', label: 'openai/x · no key', disabled: true });
  });

  it('keep one that nobody listed', () => {
    expect(optionsFor('image', models, 'openai/y').shown.at(-1)?.value).toBe('openai/y');
  });

  it('offer templates also where a text model is usual', () => {
    // IMG-19.
    const { shown, value } = optionsFor('text', models, '');
    expect([value, shown.map((one) => one.value)]).toEqual(['openai/t', ['templates', 'openai/t']]);
  });
});

describe('the leaderboard', () => {
  it('says in words how it stands', () => {
    // IMG-34.
    const board = [variant(), variant({ rank: 2 })];
    expect(standing(run({ status: 'refining', leaderboard: board }))).toMatch(/^2 of 2 ranked/);
    expect(standing(run({ status: 'evaluating' }))).toBe('Ranked once all are judged');
    expect(standing(run({ status: 'failed' }))).toBe('Nothing was ranked: the run failed');
    expect(standing(run({ status: 'cancelled' }))).toMatch(/was cancelled$/);
  });

  it('names models as the server does', () => {
    // IMG-12.
    const offered = [{ name: 'sketch', label: 'sketch (offline, drawn by rules)' }];
    expect(labelOf(offered, 'sketch')).toBe('sketch (offline, drawn by rules)');
    expect(labelOf(undefined, 'openai/x')).toBe('openai/x');
  });
});

describe('messages', () => {
  it('are a few at a time', () => {
    // IMG-33: seven covered the page.
    for (let number = 1; number <= 7; number++) say(`message ${number}`);
    expect(said().map((one) => one.text)).toEqual(['message 5', 'message 6', 'message 7']);
  });
});

describe('ids of requests', () => {
  it('are UUIDs, as the server takes them', () => {
    // IMG-15.
    expect(newId()).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    expect(newId()).not.toBe(newId());
  });
});

describe('the score', () => {
  it('is the sum of its parts', () => {
    const given = rubric();
    const sum = RUBRIC.reduce((all, { name, weight }) => all + partOf(given, name, weight), 0);
    expect(sum).toBeCloseTo(given.composite_score, 4);
  });
});

describe('the history', () => {
  const history = historyOf([
    commit('root', null, { run_id: 'r1' }),
    commit('one', 'root', { run_id: 'r1', variant_id: 'v01', score: 0.5 }),
    commit('two', 'root', { run_id: 'r1', variant_id: 'v02', score: 0.7 }),
    commit('lost', 'deleted', { status: 'failed', image_url: null }),
    commit('three', 'two'),
  ]);

  it('has no edge from a commit that was deleted', () => {
    expect(history.edges.map(({ from, to }) => `${from}>${to}`)).toEqual([
      'root>one',
      'root>two',
      'two>three',
    ]);
    expect(history.best).toBe('two');
    expect([...lineOf(history, 'three')]).toEqual(['three', 'two', 'root']);
    expect([...lineOf(history, 'lost')]).toEqual(['lost']);
  });

  it('has a best of one wish only', () => {
    // IMG-22: scores of different wishes do not compare.
    const { best } = historyOf([
      commit('new', null, { score: 0.5, judged_by: 'a fox' }),
      commit('newer', null, { score: 0.6, judged_by: 'a fox' }),
      commit('old', null, { score: 0.9, judged_by: 'a cat' }),
    ]);
    expect(best).toBe('newer');
  });

  it('says what each is', () => {
    const roles = [...history.commits.values()].map(roleOf);
    expect(roles).toEqual(['anchor', 'variant v01', 'variant v02', 'failed attempt', 'upload']);
  });

  it('has the best of each family on top', () => {
    const { places } = arrange(layoutOf(1, history));
    const at = (id: string) => places[id]?.y ?? NaN;
    expect(at('two')).toBeLessThan(at('one'));
    expect(places.root?.x).toBeLessThan(places.two?.x ?? NaN);
  });

  it('is walked by arrows', () => {
    const places = {
      root: { x: 0, y: 50 },
      one: { x: 200, y: 0 },
      two: { x: 200, y: 100 },
      three: { x: 400, y: 100 },
      lost: { x: 0, y: 250 },
    };
    const go = (from: string | null, way: 'left' | 'right' | 'up' | 'down') =>
      nextCommit({ graph: history, places }, from, way);
    expect(go(null, 'left')).toBe('two');
    expect(go('two', 'left')).toBe('root');
    expect(go('root', 'left')).toBe('root');
    expect(go('two', 'right')).toBe('three');
    expect(go('one', 'down')).toBe('two');
    expect(go('two', 'up')).toBe('one');
    expect(go('one', 'up')).toBe('one');
  });
});
