import { describe, expect, test } from 'vitest';
import {
  firstForm,
  formLike,
  outlook,
  readForm,
  refineForm,
  refineNow,
  versionOptions,
} from '@/screens/evaluations/new/form';
import type { EvaluationView } from '@/screens/evaluations/result';
import { expectedFields, judgesOf, rowParts, type SuiteView } from '@/screens/evaluations/suite';

const JUDGE = { kind: 'judge', model: 'openai/judge', criteria: 'Is it kind?' };

function suite(changes: Partial<SuiteView> = {}): SuiteView {
  return {
    suite_id: 's',
    name: 'letters',
    version: 1,
    source: 'registry',
    dataset_id: 'd',
    scorers: [JUDGE],
    split: null,
    split_seed: 0,
    stratify_by: null,
    repeats: 1,
    pass_threshold: 0.8,
    mode: 'llm',
    user: null,
    pictures: [],
    refine: {
      model: 'openai/editor',
      limit: 2,
      threshold: 0.8,
      answer: 'latest',
      trials: false,
      fields: null,
      parameters: null,
    },
    author: '',
    created_at: '',
    ...changes,
  };
}

const FORM = firstForm({ agent: 'reminders', suite: 'letters' });

describe('a new evaluation', () => {
  test('asks for nothing that it leaves as it is', () => {
    const { body, usable } = readForm(FORM, suite());
    expect(body).toEqual({ agent: 'reminders', suite: 'letters' });
    expect(usable).toBe(true);
  });

  test('takes only what failed in the one that it is like, where that is chosen', () => {
    const form = { ...FORM, like: { id: 'e1', failed: 2 } };
    expect(readForm(form, suite()).body).toEqual({ agent: 'reminders', suite: 'letters' });
    expect(readForm({ ...form, onlyFailing: true }, suite()).body.failing_of).toBe('e1');
  });

  test('sends what was chosen, and of refinement only what differs from the suite', () => {
    const form = {
      ...FORM,
      name: ' mine ',
      version: '3',
      split: 'validation' as const,
      limit: '10',
      refine: { model: 'openai/editor', limit: '4', threshold: ' ', answer: 'best' as const },
    };
    expect(readForm(form, suite()).body).toEqual({
      agent: 'reminders',
      suite: 'letters',
      name: 'mine',
      agent_version: 3,
      split: 'validation',
      limit: 10,
      refine: { limit: 4, threshold: null, answer: 'best' },
    });
  });

  test('says what is wrong before anybody is asked', () => {
    const form = { ...FORM, limit: '0', refine: { limit: '21', threshold: '1.5' } };
    const { problems, usable } = readForm(form, suite());
    expect(Object.keys(problems).sort()).toEqual(['limit', 'refineLimit', 'threshold']);
    expect(usable).toBe(false);
    expect(readForm({ ...FORM, refine: { limit: '' } }, suite()).usable).toBe(false);
  });

  test('begins like another one', () => {
    const view = {
      agent: 'a',
      agent_version: 2,
      suite: 'letters',
      refine: {
        active: false,
        why_inactive: 'the limit is 0',
        model: null,
        limit: 0,
        threshold: null,
        answer: 'best',
        judges: [],
      },
    } as unknown as EvaluationView;
    const form = formLike(view);
    expect([form.agent, form.version]).toEqual(['a', '2']);
    expect(refineNow(form, suite())).toEqual({
      model: '',
      limit: '0',
      threshold: '',
      answer: 'best',
    });
  });
});

describe('the version', () => {
  const own = { name: 'support', source: 'configuration' as const, active_version: 4 };
  const registered = { ...own, source: 'registry' as const };
  const listed = [{ version: 4, active: true, note: 'Shorter' }];
  const sent = (version: string, agent: typeof own | typeof registered | undefined) =>
    readForm({ ...FORM, version }, suite(), agent).body.agent_version;

  test('is named where the server would take what is written', () => {
    expect(sent('active', own)).toBe(4);
    expect(sent('active', registered)).toBeUndefined();
    expect(sent('active', { ...own, active_version: null as unknown as number })).toBeUndefined();
    expect([sent('written', own), sent('3', own)]).toEqual([undefined, 3]);
  });

  test('can be the written one only of the agent that is written down', () => {
    const labels = (agent: typeof own | typeof registered) =>
      versionOptions(agent, listed, 'active').map((one) => one.label);
    expect(labels(own)).toEqual([
      'Active (version 4)',
      'As burnish.toml has it',
      'Version 4: Shorter',
    ]);
    expect(labels(registered)).toEqual(['Active (version 4)', 'Version 4: Shorter']);
    expect(versionOptions(own, [], '2').at(-1)).toEqual({ value: '2', label: 'Version 2' });
  });
});

describe('the outlook of refinement', () => {
  const on = refineForm(suite().refine);

  test('is off at a limit of 0, and where the suite has none', () => {
    expect(outlook({ ...on, limit: '0' }, suite()).state).toBe('off');
    expect(outlook(refineForm(null), suite()).state).toBe('off');
  });

  test('is inactive in schema mode whatever the limit, and says why', () => {
    const found = outlook(on, suite({ mode: 'schema' }));
    expect(found.state).toBe('inactive');
    expect(found.text).toContain('schema mode');
  });

  test('is inactive without a judge, criteria or an optimizer', () => {
    const rules = suite({ scorers: [{ kind: 'exact_match', field: 'label' }] });
    const vague = suite({ scorers: [{ ...JUDGE, criteria: ' ' }] });
    expect(outlook(on, rules).text).toContain('No LLM judge');
    expect(outlook(on, vague).text).toContain('no criteria');
    expect(outlook({ ...on, model: '' }, suite()).text).toContain('No optimizer model');
  });

  test('says who does what and until when', () => {
    expect(outlook(on, suite()).text).toBe(
      'openai/editor rewrites an output up to 2 times, until openai/judge gives it a score of 0.8.',
    );
    expect(outlook({ ...on, limit: '1', threshold: '' }, suite()).text).toContain(
      'once, until openai/judge gives it a perfect score',
    );
  });
});

describe('a suite', () => {
  test('names its judges, also those within others', () => {
    const weighted = suite({ scorers: ['own:score', { kind: 'weighted', scorers: [JUDGE] }] });
    expect(judgesOf(weighted)).toEqual([{ model: 'openai/judge', criteria: 'Is it kind?' }]);
    expect(judgesOf(undefined)).toEqual([]);
  });

  test('parts a row into what was given and what was expected', () => {
    const expected = expectedFields(suite({ scorers: [{ kind: 'exact_match', field: 'label' }] }));
    expect(rowParts({ text: 'x', label: 'y', expected: 'z' }, expected)).toEqual({
      given: [['text', 'x']],
      expected: [
        ['label', 'y'],
        ['expected', 'z'],
      ],
    });
    expect(rowParts(null, expected)).toEqual({ given: [], expected: [] });
  });
});
