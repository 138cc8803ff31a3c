import { describe, expect, it } from 'vitest';
import {
  budgetSchema,
  draftsFor,
  firstForm,
  readForm,
  refused,
  type KindSchemas,
  type Project,
} from '@/screens/runs/new/form';

const project: Project = {
  agent: 'tickets',
  suite: 'support',
  optimizer: { name: 'edits', patience: 4, racing: 'off', seed: 3 },
  optimizers: ['edits', 'gepa'],
  budget: { max_trials: null, max_evaluations: 3000 },
  models: [],
  executes: true,
};
const kind: KindSchemas = {
  settings: { properties: { patience: { type: 'integer', default: 8, minimum: 1 } } },
  framework: { properties: { racing: { enum: ['off', 'aggressive'], default: 'off' } } },
};

const subjects = { project, agent: 'tickets', suite: 'support' };

describe('a new run', () => {
  it("begins with the project's own optimizer and its settings", () => {
    const form = firstForm(subjects, kind);

    expect(readForm(form, project, kind).body).toEqual({
      agent: 'tickets',
      suite: 'support',
      optimizer: { name: 'edits', settings: { patience: 4, racing: 'off' } },
      budget: {},
      start: true,
    });
    expect(draftsFor(project, 'gepa', kind).settings).toEqual({});
  });

  it('sends what was typed, and limits that were named', () => {
    const form = {
      ...firstForm(subjects, kind),
      name: '  Mine ',
      budget: { max_trials: '12', max_cost_usd: '0.5' },
      seed: { seed: '-7' },
    };

    const { body, usable } = readForm(form, project, kind);

    expect(usable).toBe(true);
    expect(body).toMatchObject({
      name: 'Mine',
      seed: -7,
      budget: { max_trials: 12, max_cost_usd: 0.5 },
    });
  });

  it('is not sent with a mistake in it', () => {
    const form = {
      ...firstForm(subjects, kind),
      budget: { max_trials: '-1' },
      settings: { patience: 'x' },
    };

    const { problems, usable } = readForm(form, project, kind);

    expect(usable).toBe(false);
    expect(problems.budget.max_trials).toContain('0 or more');
    expect(problems.settings.patience).toContain('no number');
  });

  it('shows the limits of the project where none is typed', () => {
    const { max_trials: trials, max_evaluations: evaluations } =
      budgetSchema(project).properties ?? {};

    expect(trials?.default).toBe('no limit');
    expect(evaluations?.default).toBe(3000);
  });

  it("puts the server's words beside the fields", () => {
    const said = refused(
      [
        { where: 'body.optimizer.settings.patience', message: 'too small' },
        { where: 'body.optimizer.settings.racing', message: 'unknown' },
        { where: 'body.budget.max_tokens', message: 'too large' },
        { where: 'body.seed', message: 'too long' },
        { where: 'body.suite', message: 'there is no such suite' },
      ],
      kind,
    );

    expect(said.problems).toEqual({
      settings: { patience: 'too small' },
      framework: { racing: 'unknown' },
      budget: { max_tokens: 'too large' },
      seed: { seed: 'too long' },
    });
    expect(said.rest).toEqual([{ where: 'body.suite', message: 'there is no such suite' }]);
  });
});
