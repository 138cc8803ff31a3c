import type { Schemas } from '@/api/client';
import type { EvaluationView } from '../result';
import { judgesOf, type SuiteView } from '../suite';

export type NewEvaluationBody = Schemas['NewEvaluation'];
export type Split = '' | 'train' | 'validation' | 'test';
export const SPLITS: readonly Split[] = ['', 'train', 'validation', 'test'];
export const MOST_ROUNDS = 20;
const MOST_ITEMS = 1_000_000;

/** The refinement's controls; texts as they are typed. */
export interface RefineForm {
  model: string;
  limit: string;
  threshold: string;
  answer: 'latest' | 'best';
}

export interface NewEvaluationForm {
  name: string;
  agent: string;
  /** A number, or which one: what callers get, or what burnish.toml says. */
  version: string;
  suite: string;
  split: Split;
  limit: string;
  maxCost: string;
  maxSeconds: string;
  /** What differs from the suite's own settings of refinement. */
  refine: Partial<RefineForm>;
  /** The evaluation that this one is like, with how many of its items failed. */
  like: { id: string; failed: number } | null;
  onlyFailing: boolean;
}

type Settings = Pick<Schemas['RefineTableView'], 'model' | 'limit' | 'threshold'> & {
  answer: string;
};

export const ACTIVE = 'active';
export const WRITTEN = 'written';

export type AgentLine = Pick<Schemas['AgentView'], 'name' | 'source' | 'active_version'>;

/** Without a version the server takes what burnish.toml says of its own agent, and not the active one. */
function versionOf(chosen: string, agent: AgentLine | undefined): number | null {
  if (chosen === WRITTEN) return null;
  if (chosen !== ACTIVE) return Number(chosen);
  return agent?.source === 'configuration' ? agent.active_version : null;
}

export interface VersionOption {
  value: string;
  label: string;
}

export function versionOptions(
  agent: AgentLine | undefined,
  listed: readonly { version: number; active: boolean; note: string }[],
  chosen: string,
): VersionOption[] {
  const active = agent?.active_version ?? null;
  const own = agent?.source === 'configuration';
  const options = listed.map((one) => ({
    value: String(one.version),
    label: `Version ${one.version}${one.note ? `: ${one.note.slice(0, 50)}` : ''}`,
  }));
  const numbered = chosen !== ACTIVE && chosen !== WRITTEN;
  if (numbered && !options.some((one) => one.value === chosen))
    options.unshift({ value: chosen, label: `Version ${chosen}` });
  const written = 'As burnish.toml has it';
  // Before the first promotion nothing is active but what is written.
  if (own && active === null)
    return [{ value: numbered ? ACTIVE : chosen, label: written }, ...options];
  return [
    { value: ACTIVE, label: active === null ? 'Active' : `Active (version ${active})` },
    ...(own ? [{ value: WRITTEN, label: written }] : []),
    ...options,
  ];
}

const OFF: RefineForm = { model: '', limit: '0', threshold: '', answer: 'latest' };

export function refineForm(settings: Settings | null | undefined): RefineForm {
  if (!settings) return OFF;
  return {
    model: settings.model ?? '',
    limit: String(settings.limit),
    threshold: settings.threshold === null ? '' : String(settings.threshold),
    answer: settings.answer === 'best' ? 'best' : 'latest',
  };
}

/** What would hold: the suite's own settings with what was changed here. */
export function refineNow(form: NewEvaluationForm, suite: SuiteView | undefined): RefineForm {
  return { ...refineForm(suite?.refine), ...form.refine };
}

export function firstForm(project: { agent: string; suite: string }): NewEvaluationForm {
  const { agent, suite } = project;
  return {
    name: '',
    agent,
    version: ACTIVE,
    suite,
    split: '',
    limit: '',
    maxCost: '',
    maxSeconds: '',
    refine: {},
    like: null,
    onlyFailing: false,
  };
}

/** Another one like this; its items are not known here, so it takes all. */
export function formLike(view: EvaluationView): NewEvaluationForm {
  return {
    ...firstForm(view),
    version: view.agent_version === null ? WRITTEN : String(view.agent_version),
    refine: view.refine === null ? {} : refineForm(view.refine),
    like: { id: view.experiment_id, failed: Number(view.result?.failed ?? 0) },
  };
}

export interface FormProblems {
  limit?: string;
  maxCost?: string;
  maxSeconds?: string;
  refineLimit?: string;
  threshold?: string;
}

function whole(text: string, least: number, most: number): boolean {
  return /^\d+$/.test(text.trim()) && Number(text) >= least && Number(text) <= most;
}

function problemsOf(form: NewEvaluationForm, refine: RefineForm): FormProblems {
  const problems: FormProblems = {};
  if (form.limit.trim() !== '' && !whole(form.limit, 1, MOST_ITEMS))
    problems.limit = 'A whole number from 1, or nothing for all items.';
  for (const name of ['maxCost', 'maxSeconds'] as const)
    if (form[name].trim() !== '' && !(Number(form[name]) >= 0))
      problems[name] = 'A number from 0, or nothing for no limit.';
  if (!whole(refine.limit, 0, MOST_ROUNDS))
    problems.refineLimit = `A whole number from 0 to ${MOST_ROUNDS}.`;
  const threshold = refine.threshold.trim();
  if (threshold !== '' && !(Number(threshold) >= 0 && Number(threshold) <= 1))
    problems.threshold = 'A number from 0 to 1, or nothing.';
  return problems;
}

/** The request, and what is wrong with it before anybody is asked. */
export function readForm(
  form: NewEvaluationForm,
  suite: SuiteView | undefined,
  agent?: AgentLine,
): { body: NewEvaluationBody; problems: FormProblems; usable: boolean } {
  const own = refineForm(suite?.refine);
  const refine = refineNow(form, suite);
  const problems = problemsOf(form, refine);
  const differs = (name: keyof RefineForm) => refine[name].trim() !== own[name];
  const changed: NonNullable<NewEvaluationBody['refine']> = {
    ...(differs('model') && { model: refine.model || null }),
    ...(differs('limit') && { limit: Number(refine.limit) }),
    ...(differs('threshold') && {
      threshold: refine.threshold.trim() === '' ? null : Number(refine.threshold),
    }),
    ...(differs('answer') && { answer: refine.answer }),
  };
  const name = form.name.trim();
  const version = versionOf(form.version, agent);
  const budget = {
    ...(form.maxCost.trim() !== '' && { max_cost_usd: Number(form.maxCost) }),
    ...(form.maxSeconds.trim() !== '' && { max_seconds: Number(form.maxSeconds) }),
  };
  const body: NewEvaluationBody = {
    agent: form.agent,
    suite: form.suite,
    ...(version !== null && { agent_version: version }),
    ...(form.split !== '' && { split: form.split }),
    ...(form.limit.trim() !== '' && { limit: Number(form.limit) }),
    ...(name !== '' && { name }),
    ...(form.like !== null && form.onlyFailing && { failing_of: form.like.id }),
    ...(Object.keys(budget).length > 0 && { budget }),
    ...(Object.keys(changed).length > 0 && { refine: changed }),
  };
  return { body, problems, usable: Object.keys(problems).length === 0 };
}

export interface Outlook {
  state: 'off' | 'inactive' | 'active';
  text: string;
}

/** Whether outputs will be refined, and if not, why: the server says the same once it runs. */
export function outlook(refine: RefineForm, suite: SuiteView | undefined): Outlook {
  const limit = Number(refine.limit);
  if (!(limit > 0))
    return {
      state: 'off',
      text: 'Off: each output is judged once. A limit above 0 switches it on.',
    };
  if (!suite) return { state: 'active', text: '' };
  const idle = (why: string): Outlook => ({ state: 'inactive', text: why });
  if (suite.mode === 'schema')
    return idle(
      'The suite is in schema mode, where no LLM judge gives feedback. It may start like this: the limit is kept, and nothing is refined.',
    );
  const judges = judgesOf(suite);
  if (judges.length === 0)
    return idle('No LLM judge scores the outputs of this suite: other scorers give no feedback.');
  if (judges.every((judge) => judge.criteria === ''))
    return idle('The judge has no criteria, so nothing is evaluated.');
  if (refine.model === '') return idle('No optimizer model is chosen.');
  const target =
    refine.threshold.trim() === '' ? 'a perfect score' : `a score of ${refine.threshold.trim()}`;
  const times = limit === 1 ? 'once' : `up to ${limit} times`;
  return {
    state: 'active',
    text: `${refine.model} rewrites an output ${times}, until ${judges[0]?.model ?? 'the judge'} gives it ${target}.`,
  };
}
