import { describe, expect, it } from 'vitest';
import {
  FIRST_AGENT,
  configurationOf,
  labelsOf,
  namedModel,
  naming,
  placeholdersOf,
  readAgent,
  sectionsProblem,
} from '@/screens/agents/edit/form';

const sections = [
  { path: 'system', text: 'Which team? {{ topic.name }}' },
  { path: 'user', text: '{{text}} and {{text}} but not {{ a b }}' },
];

describe('a new version', () => {
  it('may name another model, and go back to the agent’s own', () => {
    const before = configurationOf(sections, { parameters: { temperature: 0 }, examples: [] });
    const moved = naming(before, 'openai/other');
    expect(namedModel(before)).toBe('');
    expect(namedModel(moved)).toBe('openai/other');
    expect(moved.parameters).toEqual({ temperature: 0, model: 'openai/other' });
    expect(naming(moved, '')).toEqual(before);
    expect(naming(moved, null)).toBe(moved);
  });
});

describe('a new agent', () => {
  it('fills its placeholders from the columns that they name', () => {
    expect(placeholdersOf(sections)).toEqual(['topic', 'text']);
    expect(labelsOf(' billing\ntechnical, other,\n billing')).toEqual([
      'billing',
      'technical',
      'other',
    ]);
  });

  it('is sent with what its answer is to be', () => {
    const form = { ...FIRST_AGENT, name: 'router', model: 'local/x', sections };
    const labels = readAgent({ ...form, answer: 'labels', labels: 'a\nb' });
    const schema = readAgent({ ...form, answer: 'schema', schema: '{"type": "object"}' });

    expect(labels.usable && schema.usable).toBe(true);
    expect(labels.body.labels).toEqual(['a', 'b']);
    expect(schema.body.output_schema).toEqual({ type: 'object' });
    expect(schema.body.configuration).toEqual({
      sections: { system: sections[0]?.text, user: sections[1]?.text },
      parameters: { temperature: 0 },
      examples: [],
    });
  });

  it('is not sent with a mistake in it', () => {
    const form = { ...FIRST_AGENT, name: '../x', model: 'local/x', answer: 'schema' as const };
    const { problems, usable } = readAgent({ ...form, schema: '[1]', temperature: 'warm' });

    expect(usable).toBe(false);
    expect(problems.name).toContain('letters');
    expect(problems.schema).toContain('object');
    expect(problems.temperature).toContain('0 to 2');
    expect(
      readAgent({ ...FIRST_AGENT, answer: 'labels', labels: 'one' }).problems.labels,
    ).toContain('two labels');
    expect(readAgent(FIRST_AGENT).usable).toBe(false);
    expect(readAgent({ ...FIRST_AGENT, model: 'openai/' }).usable).toBe(false);
    const empty = readAgent({ ...FIRST_AGENT, model: 'local/x', answer: 'labels' });
    expect([empty.usable, empty.problems.labels]).toEqual([false, null]);
  });

  it('says what is wrong with its sections', () => {
    expect(sectionsProblem(sections)).toBeNull();
    expect(sectionsProblem([{ path: 'user', text: 'hello' }])).toContain('placeholder');
    expect(sectionsProblem([{ path: 'user', text: 'hello' }], false)).toBeNull();
    expect(sectionsProblem([...sections, { path: '', text: '' }])).toContain('needs a name');
    expect(sectionsProblem([...sections, { path: 'a b', text: '' }])).toContain('no name');
    expect(sectionsProblem([...sections, { path: 'user', text: '' }])).toContain('Two sections');
  });
});
