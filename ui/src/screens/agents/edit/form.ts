import type { Schemas } from '@/api/client';
import type { AgentConfiguration } from '@/lib/configurations';

export type AgentBody = Schemas['NewAgent'];

export interface SectionDraft {
  path: string;
  text: string;
}

export type AnswerKind = 'text' | 'labels' | 'schema';

/** What "New agent" asks for; texts as they are typed. */
export interface AgentForm {
  name: string;
  model: string;
  sections: readonly SectionDraft[];
  answer: AnswerKind;
  labels: string;
  schema: string;
  temperature: string;
}

export interface AgentProblems {
  name: string | null;
  sections: string | null;
  labels: string | null;
  schema: string | null;
  temperature: string | null;
}

export const FIRST_AGENT: AgentForm = {
  name: '',
  model: '',
  sections: [
    { path: 'system', text: '' },
    { path: 'user', text: '{{text}}' },
  ],
  answer: 'text',
  labels: '',
  schema: '',
  temperature: '0',
};

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;
const PATH = /^[A-Za-z_][A-Za-z0-9_-]*(\.[A-Za-z0-9_][A-Za-z0-9_-]*)*$/;
const PLACEHOLDER = /\{\{\s*([A-Za-z_][A-Za-z0-9_]*(?:[.-][A-Za-z0-9_]+)*)\s*\}\}/g;

/** The fields of an item that a prompt asks for, in the order in which it does. */
export function placeholdersOf(sections: readonly SectionDraft[]): string[] {
  const found = sections.flatMap((one) =>
    [...one.text.matchAll(PLACEHOLDER)].map((match) => match[1]?.split('.')[0] ?? ''),
  );
  return [...new Set(found)];
}

export function sectionsOf(configuration: AgentConfiguration): SectionDraft[] {
  return Object.entries(configuration.sections).map(([path, text]) => ({ path, text }));
}

/** What is wrong with sections, in one sentence. */
export function sectionsProblem(sections: readonly SectionDraft[], prompt = true): string | null {
  const paths = sections.map((one) => one.path);
  const bad = paths.find((path) => !PATH.test(path));
  if (bad !== undefined)
    return bad === ''
      ? 'Each section needs a name, such as system.'
      : `“${bad}” is no name of a section: letters, digits, dashes and underscores, with dots between.`;
  const twice = paths.find((path, index) => paths.indexOf(path) !== index);
  if (twice !== undefined) return `Two sections are named ${twice}.`;
  if (sections.length === 0) return 'A prompt needs a section.';
  if (prompt && placeholdersOf(sections).length === 0)
    return 'No section holds a placeholder such as {{text}}: the model would never see the input.';
  return null;
}

export function configurationOf(
  sections: readonly SectionDraft[],
  rest: Omit<AgentConfiguration, 'sections'> = { parameters: {}, examples: [] },
): AgentConfiguration {
  return {
    sections: Object.fromEntries(sections.map((one) => [one.path, one.text])),
    parameters: rest.parameters,
    examples: rest.examples,
  };
}

/** The model that a configuration names; empty where the agent's own answers. */
export function namedModel(configuration: AgentConfiguration): string {
  const { model } = configuration.parameters;
  return typeof model === 'string' ? model : '';
}

/** The same with another model in it; an empty name takes it out, null leaves all as it is. */
export function naming(
  configuration: AgentConfiguration,
  model: string | null,
): AgentConfiguration {
  if (model === null) return configuration;
  const { model: _, ...others } = configuration.parameters;
  return { ...configuration, parameters: model === '' ? others : { ...others, model } };
}

export function labelsOf(text: string): string[] {
  const all = text.split(/[\n,]/).map((one) => one.trim());
  return [...new Set(all.filter((one) => one !== ''))];
}

/** The request, and what is wrong with it before it is sent. */
export function readAgent(form: AgentForm): {
  body: AgentBody;
  problems: AgentProblems;
  usable: boolean;
} {
  const labels = form.answer === 'labels' ? labelsOf(form.labels) : [];
  const schema =
    form.answer === 'schema' && form.schema.trim() !== ''
      ? readSchema(form.schema)
      : { value: null };
  const warm = Number(form.temperature);
  const problems: AgentProblems = {
    name:
      form.name === '' || NAME.test(form.name)
        ? null
        : 'A name has letters, digits, dots, dashes and underscores, and begins with one of the first two.',
    sections: sectionsProblem(form.sections),
    labels:
      form.labels.trim() !== '' && form.answer === 'labels' && labels.length < 2
        ? 'Write two labels or more, one a line.'
        : null,
    schema: 'problem' in schema ? schema.problem : null,
    temperature:
      form.temperature.trim() === '' || (Number.isFinite(warm) && warm >= 0 && warm <= 2)
        ? null
        : 'This is a number from 0 to 2.',
  };
  const parameters = form.temperature.trim() === '' ? {} : { temperature: warm };
  const body = {
    name: form.name,
    model: form.model,
    ...(labels.length > 0 && { labels }),
    ...('value' in schema && schema.value !== null && { output_schema: schema.value }),
    configuration: configurationOf(form.sections, { parameters, examples: [] }),
  } as AgentBody;
  const named = /^[^/]+\/./.test(form.model);
  const said = form.answer === 'text' || form[form.answer].trim() !== '';
  const clean = Object.values(problems).every((problem) => problem === null);
  return { body, problems, usable: clean && named && said };
}

function readSchema(text: string): { value: Record<string, unknown> } | { problem: string } {
  try {
    const value = JSON.parse(text) as unknown;
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return { value: value as Record<string, unknown> };
  } catch {
    // Said below.
  }
  return { problem: 'A JSON schema is an object, such as {"type": "object", "properties": {…}}.' };
}
