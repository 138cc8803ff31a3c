import { describe, expect, it } from 'vitest';
import { firstSuite, readSuite, refusedScorers, suiteLike } from '@/screens/data/newSuite/form';
import {
  asText,
  columnsOf,
  formatOf,
  judgedBy,
  nameFrom,
  refineWords,
  scorerParts,
  shares,
  splitWords,
} from '@/screens/data/words';

describe('words for data', () => {
  it('shows any value as text', () => {
    expect(asText('<b>')).toBe('<b>');
    expect(asText({ a: [1] })).toBe('{"a":[1]}');
    expect(asText(undefined)).toBe('');
  });

  it('takes the columns that most rows have', () => {
    const rows = [
      { data: { id: 1, a: 1, b: 2 } },
      { data: { a: 1, c: 3 } },
      { data: { a: 1, b: 2 } },
    ];
    expect(columnsOf(rows, 4)).toEqual(['a', 'b']);
    expect(columnsOf(rows, 1)).toEqual(['a']);
  });

  it('describes scorers and splits', () => {
    expect(scorerParts('module:score')).toEqual({ kind: 'module:score', settings: [] });
    expect(scorerParts({ kind: 'contains', text: ['a', 'b'] }).settings).toEqual([
      ['text', '["a","b"]'],
    ]);
    expect(splitWords({ train: 0.3, test: 0.7 })).toBe('30% train, 70% test');
    expect(shares({ test: 1, validation: 1, train: 1 }).map((one) => one.name)).toEqual([
      'train',
      'validation',
      'test',
    ]);
    expect(shares({ train: 1, validation: 3, none: 0 })).toEqual([
      { name: 'train', items: 1, share: 0.25 },
      { name: 'validation', items: 3, share: 0.75 },
    ]);
  });

  it('reads a file’s name', () => {
    expect(formatOf('a.b.CSV')?.format).toBe('csv');
    expect(formatOf('notes.txt')).toBeNull();
    expect(nameFrom('../My reviews (new).jsonl')).toBe('My-reviews-new-');
  });
});

describe('a new suite', () => {
  const schemas = new Map([
    ['exact_match', { properties: { weight: { type: 'number' as const, minimum: 0 } } }],
  ]);

  it('is usable once it has a name, a dataset and shares that sum up', () => {
    const form = { ...firstSuite('d'), name: 'mine' };
    const { body, usable } = readSuite(form, schemas);
    expect(usable).toBe(true);
    expect(body).toMatchObject({
      name: 'mine',
      dataset_id: 'd',
      scorers: [{ kind: 'exact_match' }],
      split: { train: 0.4, validation: 0.4, test: 0.2 },
    });
    expect(readSuite({ ...form, name: '../x' }, schemas).problems.name).toMatch(/letters/);
    expect(readSuite({ ...form, dataset: '' }, schemas).usable).toBe(false);
  });

  it('says beside the field what is wrong', () => {
    const form = {
      ...firstSuite('d'),
      name: 'mine',
      shares: { test: '0.5' },
      scorers: [{ kind: 'exact_match', settings: { weight: '-1' } }],
    };
    const { problems, usable } = readSuite(form, schemas);
    expect(usable).toBe(false);
    expect(problems.shares.test).toBe('The shares sum up to 1.3, and not to 1.');
    expect(problems.scorers[0]).toHaveProperty('weight');
    expect(readSuite({ ...form, scorers: [], split: 'none' }, schemas).usable).toBe(false);
  });

  it('puts what the server refused beside its scorer', () => {
    const problems = [{ where: 'body.scorers.1.weight', message: 'too small' }];
    expect(refusedScorers(problems, 2)).toEqual([{}, { weight: 'too small' }]);
  });
});

describe('a suite that is there', () => {
  const suite = {
    suite_id: 's',
    name: 'polite',
    version: 3,
    source: 'registry' as const,
    dataset_id: 'd',
    scorers: [{ kind: 'exact_match', weight: 2 }],
    split: { train: 0.5, validation: 0.5 },
    split_seed: 7,
    stratify_by: 'label',
    repeats: 2,
    pass_threshold: 0.8,
    mode: 'schema',
    user: null,
    pictures: ['photo'],
    refine: {
      model: 'openai/opt',
      limit: 3,
      threshold: 0.9,
      answer: 'best',
      trials: true,
      fields: ['q'],
      parameters: null,
    },
    author: '',
    created_at: '',
  };
  const schemas = new Map([
    ['exact_match', { properties: { weight: { type: 'number' as const, minimum: 0 } } }],
  ]);

  it('loses nothing when it is saved anew from the form', () => {
    const { body, usable } = readSuite(suiteLike(suite), schemas);
    expect(usable).toBe(true);
    const { name, dataset_id, scorers, split_seed, stratify_by, repeats } = suite;
    const { pass_threshold, mode, refine } = suite;
    expect(body).toMatchObject({ name, dataset_id, scorers, split_seed, stratify_by, repeats });
    expect(body).toMatchObject({ pass_threshold, mode, refine });
    expect(body.split).toEqual({ train: 0.5, validation: 0.5, test: 0 });
  });

  it('says how its outputs are refined', () => {
    expect(refineWords(suite.refine).value).toBe('up to 3 times');
    expect(refineWords(suite.refine).below).toContain('openai/opt until 0.9, the best counts');
    expect(refineWords(null).value).toBe('no');
  });
});

describe('who judges', () => {
  it('is said by the scorers that there are, not by the mode alone', () => {
    const exact = { kind: 'exact_match' };
    const judge = { kind: 'judge', model: 'openai/x' };
    const said = (scorers: (string | Record<string, unknown>)[], mode = 'llm') =>
      judgedBy({ scorers, mode }).value;

    expect(said([exact])).toBe('rules');
    expect(said([exact, judge])).toBe('rules and a model');
    expect(said([{ kind: 'weighted', scorers: [judge] }])).toBe('a model');
    expect(said([judge], 'schema')).toBe('rules');
  });
});
