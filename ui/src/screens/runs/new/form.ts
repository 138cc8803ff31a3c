import type { Schemas } from '@/api/client';
import { draftOf, problemsBelow, readDraft, type Draft, type JsonSchema } from '@/lib/schema';

export type Project = Schemas['Project'];
export type NewRunBody = Schemas['NewOptimization'];

/** What the dialog asks for; texts as they are typed. */
export interface NewRunForm {
  name: string;
  agent: string;
  suite: string;
  optimizer: string;
  settings: Draft;
  framework: Draft;
  budget: Draft;
  seed: Draft;
}

export interface NewRunProblems {
  settings: Record<string, string>;
  framework: Record<string, string>;
  budget: Record<string, string>;
  seed: Record<string, string>;
}

export interface KindSchemas {
  settings: JsonSchema;
  framework: JsonSchema;
}

export const NOTHING: JsonSchema = { type: 'object', properties: {} };
export const SEED: JsonSchema = {
  properties: {
    seed: {
      type: 'integer',
      description: 'Equal seeds search alike. Without any, the run draws its own.',
    },
  },
};

const LIMITS: Record<string, { type: 'integer' | 'number'; description: string }> = {
  max_trials: { type: 'integer', description: 'Candidates tried on all items.' },
  max_evaluations: { type: 'integer', description: 'Runs of an item.' },
  max_calls: { type: 'integer', description: 'Calls of a model.' },
  max_tokens: { type: 'integer', description: 'Tokens in and out.' },
  max_cost_usd: { type: 'number', description: 'US dollars.' },
  max_seconds: { type: 'number', description: 'Seconds of work.' },
};

/** The budget as a form; what is left empty is as the project has it. */
export function budgetSchema(project: Project): JsonSchema {
  return {
    properties: Object.fromEntries(
      Object.entries(LIMITS).map(([name, limit]) => {
        const byDefault = project.budget[name];
        return [name, { ...limit, minimum: 0, default: byDefault ?? 'no limit' }];
      }),
    ),
  };
}

/** The settings that an optimizer begins with: those of the project, where it is the project's own. */
export function draftsFor(
  project: Project,
  optimizer: string,
  kind: KindSchemas,
): Pick<NewRunForm, 'optimizer' | 'settings' | 'framework'> {
  const own = project.optimizer.name === optimizer ? project.optimizer : {};
  return {
    optimizer,
    settings: draftOf(kind.settings, own),
    framework: draftOf(kind.framework, own),
  };
}

export function ownOptimizer(project: Project): string {
  return String(project.optimizer.name ?? project.optimizers[0] ?? '');
}

export function firstForm(
  { project, agent, suite }: { project: Project; agent: string; suite: string },
  kind: KindSchemas,
): NewRunForm {
  return {
    name: '',
    agent,
    suite,
    ...draftsFor(project, ownOptimizer(project), kind),
    budget: {},
    seed: {},
  };
}

/** The request, and what is wrong with it before anybody is asked. */
export function readForm(
  form: NewRunForm,
  project: Project,
  kind: KindSchemas,
): { body: NewRunBody; problems: NewRunProblems; usable: boolean } {
  const settings = readDraft(kind.settings, form.settings);
  const framework = readDraft(kind.framework, form.framework);
  const budget = readDraft(budgetSchema(project), form.budget);
  const seed = readDraft(SEED, form.seed);
  const problems = {
    settings: settings.problems,
    framework: framework.problems,
    budget: budget.problems,
    seed: seed.problems,
  };
  const name = form.name.trim();
  const body: NewRunBody = {
    agent: form.agent,
    suite: form.suite,
    optimizer: { name: form.optimizer, settings: { ...settings.values, ...framework.values } },
    budget: budget.values,
    start: true,
    ...(name && { name }),
    ...(seed.values.seed !== undefined && { seed: seed.values.seed as number }),
  };
  const usable = Object.values(problems).every((found) => Object.keys(found).length === 0);
  return { body, problems, usable };
}

/** What the server refused, beside the fields it is about; `rest` is for the dialog as a whole. */
export function refused(
  problems: readonly { where: string; message: string }[],
  kind: KindSchemas,
): { problems: NewRunProblems; rest: { where: string; message: string }[] } {
  const settings = problemsBelow('body.optimizer.settings', problems);
  const budget = problemsBelow('body.budget', settings.rest);
  const body = problemsBelow('body', budget.rest);
  const own = new Set(Object.keys(kind.framework.properties ?? {}));
  const split = (wanted: boolean) =>
    Object.fromEntries(
      Object.entries(settings.fields).filter(([name]) => own.has(name) === wanted),
    );
  return {
    problems: {
      settings: split(false),
      framework: split(true),
      budget: budget.fields,
      seed: body.fields.seed ? { seed: body.fields.seed } : {},
    },
    rest: budget.rest.filter((problem) => !problem.where.startsWith('body.seed')),
  };
}

/** Both at once; what the form itself knows comes first. */
export function merged(one: NewRunProblems, other: NewRunProblems): NewRunProblems {
  return {
    settings: { ...other.settings, ...one.settings },
    framework: { ...other.framework, ...one.framework },
    budget: { ...other.budget, ...one.budget },
    seed: { ...other.seed, ...one.seed },
  };
}
