import { describe, expect, it } from 'vitest';
import {
  draftOf,
  fieldsOf,
  NULL,
  offering,
  problemsBelow,
  readDraft,
  shownDefault,
} from '../src/lib/schema';
import type { JsonSchema } from '../src/lib/schema';

const schema: JsonSchema = {
  type: 'object',
  $defs: { Mode: { enum: ['off', 'conservative'], type: 'string' } },
  required: ['model'],
  properties: {
    patience: { type: 'integer', default: 8, minimum: 1, description: 'Steps without a gain.' },
    share: {
      anyOf: [{ type: 'number', exclusiveMinimum: 0, maximum: 1 }, { type: 'null' }],
      default: 0.5,
    },
    merge: { type: 'boolean', default: true },
    racing: { $ref: '#/$defs/Mode', default: 'off' },
    model: { type: 'string', minLength: 3 },
    sections: { type: 'array', items: { type: 'string' }, default: [], maxItems: 2 },
    space: { type: 'object', default: {} },
    limit: { type: ['integer', 'null'], default: null },
  },
};

describe('a form by its schema', () => {
  it('knows the kind, the default and the limits of every field', () => {
    const byName = Object.fromEntries(fieldsOf(schema).map((field) => [field.name, field]));

    expect(Object.values(byName).map((field) => field.kind)).toEqual([
      'integer',
      'number',
      'boolean',
      'choice',
      'text',
      'list',
      'json',
      'integer',
    ]);
    expect(byName.share).toMatchObject({ nullable: true, default: 0.5 });
    expect(byName.limit).toMatchObject({ nullable: true, default: null });
    expect(byName.racing?.choices).toEqual(['off', 'conservative']);
    expect(byName.patience).toMatchObject({ label: 'Patience', hint: 'Steps without a gain.' });
    expect(fieldsOf(schema).map(shownDefault)).toEqual([
      '8',
      '0.5',
      'yes',
      'off',
      '',
      'none',
      '{}',
      'none',
    ]);
  });

  it('sends what was typed and nothing else', () => {
    const read = readDraft(schema, {
      patience: ' 3 ',
      share: NULL,
      merge: 'false',
      model: 'scripted/echo',
      sections: 'system\n\n user ',
      space: '{"a": [1]}',
    });

    expect(read).toEqual({
      values: {
        patience: 3,
        share: null,
        merge: false,
        model: 'scripted/echo',
        sections: ['system', 'user'],
        space: { a: [1] },
      },
      problems: {},
    });
  });

  it.each([
    ['patience', '0', '1 or more'],
    ['patience', '1.5', 'whole number'],
    ['patience', 'many', 'no number'],
    ['share', '0', 'more than 0'],
    ['share', '2', '1 or less'],
    ['racing', 'fast', 'one of off, conservative'],
    ['model', 'ab', '3 characters'],
    ['sections', 'a\nb\nc', '2 lines at most'],
    ['space', '{a}', 'no JSON'],
  ])('says what is wrong with %s = %s', (name, text, message) => {
    const { problems, values } = readDraft(schema, { model: 'abc', [name]: text });

    expect(problems[name]).toContain(message);
    expect(values[name]).toBeUndefined();
  });

  it('asks for what is needed', () => {
    expect(readDraft(schema, {}).problems).toEqual({ model: 'This is needed.' });
  });

  it('shows values that are there, and reads them back as they were', () => {
    const values = {
      patience: 3,
      share: null,
      merge: false,
      sections: ['a', 'b'],
      space: { x: 1 },
    };

    const draft = draftOf(schema, values);

    expect(draft.patience).toBe('3');
    expect(readDraft(schema, { ...draft, model: 'abc' }).values).toEqual({
      ...values,
      model: 'abc',
    });
  });

  it("puts the server's problems beside their fields", () => {
    const found = problemsBelow('body.optimizer.settings', [
      { where: 'body.optimizer.settings.patience', message: 'too small' },
      { where: 'body.optimizer.settings.space.a[0]', message: 'no number' },
      { where: 'body.seed', message: 'too large' },
    ]);

    expect(found.fields).toEqual({ patience: 'too small', space: 'no number' });
    expect(found.rest).toEqual([{ where: 'body.seed', message: 'too large' }]);
  });
});

describe('what can be chosen', () => {
  it('is offered in place of typed lists', () => {
    const schema: JsonSchema = {
      properties: {
        sections: {
          anyOf: [{ type: 'array', items: { type: 'string' } }, { type: 'null' }],
          default: null,
          description: 'Which ones.',
        },
        guidance: { type: 'string' },
      },
    };

    const [sections, guidance] = fieldsOf(offering(schema, ['sections', 'guidance'], ['a', 'b']));

    expect(sections).toMatchObject({ kind: 'ticks', choices: ['a', 'b'], hint: 'Which ones.' });
    expect(guidance?.kind).toBe('text');
    expect(offering(schema, ['sections'], [])).toBe(schema);
  });
});
