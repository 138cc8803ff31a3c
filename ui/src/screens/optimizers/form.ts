import type { Schemas } from '@/api/client';
import { draftOf, problemsBelow, readDraft, type Draft, type JsonSchema } from '@/lib/schema';

export type ConfigBody = Record<string, unknown> & { name: string; optimizer: string };
type Kind = Pick<Schemas['OptimizerKind'], 'name' | 'settings'>;

/** What the editor asks for; texts as they are typed. */
export interface ConfigForm {
  name: string;
  optimizer: string;
  suite: string;
  settings: Draft;
  budget: Draft;
  when: Draft;
  schedule: string;
  autoPromote: boolean;
}

export const BUDGET: JsonSchema = {
  properties: {
    max_trials: { type: 'integer', minimum: 0, description: 'Candidates tried on all items.' },
    max_evaluations: { type: 'integer', minimum: 0, description: 'Runs of an item.' },
    max_calls: { type: 'integer', minimum: 0, description: 'Calls of a model.' },
    max_tokens: { type: 'integer', minimum: 0, description: 'Tokens in and out.' },
    max_cost_usd: { type: 'number', minimum: 0, description: 'US dollars.' },
    max_seconds: { type: 'number', minimum: 0, description: 'Seconds of work.' },
  },
};
export const WHEN: JsonSchema = {
  properties: {
    schedule_timezone: { type: 'string', default: 'UTC', description: 'Such as Europe/Berlin.' },
    seed: { type: 'integer', description: 'Without one, each run draws its own.' },
    base_config_version: {
      type: 'integer',
      minimum: 1,
      description: 'Runs begin with this version of the agent; without one, with the active one.',
    },
    refine: {
      type: 'object',
      description:
        'How outputs of trials are refined, such as {"limit": 2}; else as the suite has it.',
    },
  },
};
const TEMPLATES = ['system_template', 'user_template'];
/** GEPA's settings stand beside the others in a stored optimizer, some with defaults of their own. */
const GEPA: Record<string, JsonSchema> = {
  mutation_strategies: {
    type: 'array',
    items: { type: 'string', enum: TEMPLATES },
    minItems: 1,
    description: 'What may be rewritten: the templates, and other sections.',
  },
  model: { description: 'The model that reflects. Without one, mutations are mechanical.' },
  max_iterations: { type: 'integer', minimum: 1, default: 8, description: 'Trials at most.' },
  population_size: {
    type: 'integer',
    minimum: 1,
    default: 4,
    description: 'Candidates that run side by side.',
  },
  exploration_temperature: {
    type: 'number',
    minimum: 0,
    maximum: 10,
    default: 0.7,
    description: 'Higher draws parents more evenly.',
  },
  accept_threshold: { description: 'A score that is good enough: the search ends there.' },
  stop_no_improve: {
    type: 'integer',
    minimum: 1,
    default: 3,
    description: 'Ends after so many trials without a better one.',
  },
};

/**
 * The form of an optimizer's settings and the framework's, by what the server says that it takes.
 * `sections` are those of the agent.
 */
export function settingsSchema(
  kind: Kind | undefined,
  framework: JsonSchema = {},
  sections: readonly string[] = [],
): JsonSchema {
  const schema = (kind?.settings ?? {}) as JsonSchema;
  const known = { ...schema.properties, ...framework.properties };
  if (kind?.name !== 'gepa') return { ...schema, properties: known };
  const own = Object.fromEntries(
    Object.entries(GEPA).map(([name, mine]) => {
      const base = mine.type ? { ...known[name], anyOf: undefined } : known[name];
      return [name, { ...base, ...mine }];
    }),
  );
  const strategies = { ...GEPA.mutation_strategies };
  const others = sections.filter((path) => path !== 'system' && path !== 'user');
  strategies.items = { type: 'string', enum: [...TEMPLATES, ...others] };
  return {
    ...schema,
    properties: { ...own, mutation_strategies: strategies, ...without(known, GEPA) },
    required: ['mutation_strategies'],
  };
}

function without(all: Record<string, JsonSchema>, some: object): Record<string, JsonSchema> {
  return Object.fromEntries(Object.entries(all).filter(([name]) => !(name in some)));
}

export function firstForm(optimizer: string): ConfigForm {
  return {
    name: '',
    optimizer,
    suite: '',
    settings: firstSettings(optimizer),
    budget: { max_evaluations: '500' },
    when: {},
    schedule: '',
    autoPromote: false,
  };
}

export function firstSettings(optimizer: string): Draft {
  return optimizer === 'gepa' ? { mutation_strategies: 'system_template' } : {};
}

/** The form of one that is stored. */
export function formOf(
  config: Record<string, unknown>,
  kind: Kind | undefined,
  framework?: JsonSchema,
): ConfigForm {
  const optimizer = String(config.optimizer ?? '');
  const given = optimizer === 'gepa' ? config : (config.settings as Record<string, unknown>);
  const values = withoutNulls(given ?? {});
  return {
    name: String(config.name ?? ''),
    optimizer,
    suite: String(config.suite_id ?? ''),
    settings: draftOf(settingsSchema(kind, framework), values),
    budget: draftOf(BUDGET, withoutNulls((config.budget ?? {}) as Record<string, unknown>)),
    when: draftOf(WHEN, withoutNulls(config)),
    schedule: String(config.schedule ?? ''),
    autoPromote: config.auto_promote === true,
  };
}

function withoutNulls(values: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null));
}

export interface ConfigProblems {
  name: string | null;
  schedule: string | null;
  settings: Readonly<Record<string, string>>;
  budget: Readonly<Record<string, string>>;
  when: Readonly<Record<string, string>>;
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;

/** The request, and what is wrong with it before it is sent. */
export function readConfig(
  form: ConfigForm,
  kind: Kind | undefined,
  framework?: JsonSchema,
): { body: ConfigBody; problems: ConfigProblems; usable: boolean } {
  const settings = readDraft(settingsSchema(kind, framework), form.settings);
  const budget = readDraft(BUDGET, form.budget);
  const when = readDraft(WHEN, form.when);
  const fields = form.schedule.trim().split(/\s+/).length;
  const problems: ConfigProblems = {
    name:
      form.name === '' || NAME.test(form.name)
        ? null
        : 'A name has letters, digits, dots, dashes and underscores, and begins with a letter or digit.',
    schedule:
      form.schedule.trim() === '' || fields === 5
        ? null
        : `A schedule has five fields (minute, hour, day, month, weekday); this has ${fields}.`,
    settings: settings.problems,
    budget: budget.problems,
    when: when.problems,
  };
  const body: ConfigBody = {
    name: form.name,
    optimizer: form.optimizer,
    ...(form.suite && { suite_id: form.suite }),
    ...(form.optimizer === 'gepa' ? settings.values : { settings: settings.values }),
    budget: budget.values,
    ...when.values,
    ...(form.schedule.trim() && { schedule: form.schedule.trim() }),
    auto_promote: form.autoPromote,
  };
  const clean = [problems.settings, problems.budget, problems.when].every(
    (found) => Object.keys(found).length === 0,
  );
  const usable = form.name !== '' && !problems.name && !problems.schedule && clean;
  return { body, problems, usable };
}

/** What the server refused, beside its field. */
export function refusedConfig(
  problems: readonly { where: string; message: string }[],
): ConfigProblems {
  const budget = problemsBelow('body.budget', problems);
  const deep = problemsBelow('body.settings', budget.rest);
  const flat = problemsBelow('body', deep.rest).fields;
  return {
    name: flat.name ?? null,
    schedule: flat.schedule ?? null,
    settings: { ...flat, ...deep.fields },
    budget: budget.fields,
    when: flat,
  };
}

export function bothProblems(own: ConfigProblems, said: ConfigProblems): ConfigProblems {
  return {
    name: own.name ?? said.name,
    schedule: own.schedule ?? said.schedule,
    settings: { ...said.settings, ...own.settings },
    budget: { ...said.budget, ...own.budget },
    when: { ...said.when, ...own.when },
  };
}

/** A stored configuration as lines that a diff can compare. */
export function configText(config: Record<string, unknown>): string {
  return Object.entries(config)
    .filter(([, value]) => value !== null)
    .sort(([one], [other]) => one.localeCompare(other))
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join('\n');
}
