import { describe, expect, it } from 'vitest';
import { fieldsOf } from '@/lib/schema';
import { cronWords } from '@/screens/optimizers/cron';
import {
  bothProblems,
  configText,
  firstForm,
  formOf,
  readConfig,
  refusedConfig,
  settingsSchema,
} from '@/screens/optimizers/form';

const GEPA = {
  name: 'gepa',
  settings: {
    properties: {
      model: { type: ['string', 'null'], default: null },
      max_iterations: { type: ['integer', 'null'], default: null },
      mutation_strategies: {
        anyOf: [{ type: 'array', items: { type: 'string' } }, { type: 'null' }],
      },
      look: { type: ['integer', 'null'] },
    },
  },
};
const EDITS = {
  name: 'edits',
  settings: { properties: { patience: { type: 'integer', minimum: 1 } } },
};

describe('schedules in words', () => {
  it.each([
    [null, 'Only when somebody starts it'],
    ['0 2 * * *', 'Every day at 02:00 (UTC)'],
    ['30 * * * *', 'Every hour at 30 minutes past (UTC)'],
    ['5 14 * * 1-5', 'Monday to Friday at 14:05 (UTC)'],
    ['0 2 * * 0,3', 'Every Sunday, Wednesday at 02:00 (UTC)'],
    ['0 2 1 * *', 'On day 1 of each month at 02:00 (UTC)'],
    ['*/5 2 * * *', 'At the times of */5 2 * * * (UTC)'],
    ['0 2 1 1 *', 'At the times of 0 2 1 1 * (UTC)'],
  ])('%s: %s', (cron, words) => expect(cronWords(cron)).toBe(words));
});

describe('a stored optimizer', () => {
  it('of GEPA has its settings beside the rest, and comes back as it was', () => {
    const config = {
      name: 'nightly',
      optimizer: 'gepa',
      suite_id: 's',
      budget: { max_evaluations: 900, max_cost_usd: null },
      schedule: '0 2 * * *',
      schedule_timezone: 'UTC',
      seed: null,
      auto_promote: true,
      max_iterations: 6,
      mutation_strategies: ['system_template', 'notes'],
      model: null,
    };
    const { body, usable } = readConfig(formOf(config, GEPA), GEPA);
    expect(usable).toBe(true);
    expect(body).toEqual({
      name: 'nightly',
      optimizer: 'gepa',
      suite_id: 's',
      budget: { max_evaluations: 900 },
      schedule: '0 2 * * *',
      schedule_timezone: 'UTC',
      auto_promote: true,
      max_iterations: 6,
      mutation_strategies: ['system_template', 'notes'],
    });
  });

  it('of GEPA asks for all its settings and the framework’s, and ticks what may be rewritten', () => {
    const framework = { properties: { racing: { enum: ['off', 'aggressive'] } } };
    const schema = settingsSchema(GEPA, framework, ['system', 'user', 'notes']);
    expect(Object.keys(schema.properties ?? {})).toEqual(
      expect.arrayContaining(['look', 'racing', 'max_iterations']),
    );
    const strategies = fieldsOf(schema).find((field) => field.name === 'mutation_strategies');
    expect(strategies).toMatchObject({
      kind: 'ticks',
      choices: ['system_template', 'user_template', 'notes'],
    });
    const settings = { mutation_strategies: 'system_template\nnotes', racing: 'off', look: '6' };
    const form = { ...firstForm('gepa'), name: 'x', settings };
    expect(readConfig(form, GEPA, framework).body).toMatchObject({
      mutation_strategies: ['system_template', 'notes'],
      racing: 'off',
      look: 6,
    });
  });

  it('of another kind has them below `settings`', () => {
    const form = { ...firstForm('edits'), name: 'x', settings: { patience: '3' } };
    expect(readConfig(form, EDITS).body).toMatchObject({ settings: { patience: 3 } });
  });

  it('is not sent with mistakes', () => {
    const form = {
      ...firstForm('edits'),
      name: 'a b',
      schedule: '0 2',
      settings: { patience: '0' },
    };
    const { problems, usable } = readConfig(form, EDITS);
    expect(usable).toBe(false);
    expect(problems.name).toMatch(/letters/);
    expect(problems.schedule).toMatch(/this has 2/);
    expect(problems.settings.patience).toBe('This has to be 1 or more.');
    expect(readConfig(firstForm('edits'), EDITS).usable).toBe(false);
  });

  it('shows what the server refused beside the field', () => {
    const said = refusedConfig([
      { where: 'body.max_iterations', message: 'too small' },
      { where: 'body.budget.max_calls', message: 'too large' },
      { where: 'body.settings.patience', message: 'no number' },
      { where: 'body.schedule', message: 'never' },
    ]);
    expect(said.settings).toMatchObject({ max_iterations: 'too small', patience: 'no number' });
    expect(said.budget).toEqual({ max_calls: 'too large' });
    expect(said.schedule).toBe('never');
    const own = { ...said, schedule: 'mine' };
    expect(bothProblems(own, said).schedule).toBe('mine');
  });

  it('is compared as lines', () => {
    expect(configText({ b: [1], a: 'x', c: null })).toBe('a: x\nb: [1]');
  });
});
