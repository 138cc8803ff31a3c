import { expect, test } from 'vitest';
import { ApiError } from '@/api/client';
import { EMPTY, newSet } from '@/screens/labels/form';
import { keyOf, Labelling, type Tasks } from '@/screens/labels/label/labelling';
import type { Outgoing } from '@/screens/labels/label/outbox';

type Task = Tasks['tasks'][number];

function task(position: number): Task {
  const shown = { output: `o${position}`, left: null, right: null };
  const said = { state: null, value: null, comment: '' };
  return { position, item_id: `i${position}`, fields: {}, ...shown, ...said };
}

/** A server that keeps what it is told, and fails as often as it is asked to. */
function world(items: number, failures: (ApiError | null)[] = []) {
  const kept = new Map<string, Outgoing['label']>();
  const sent: string[] = [];
  const memory = new Map<string, string>();
  const storage = {
    getItem: (name: string) => memory.get(name) ?? null,
    setItem: (name: string, value: string) => void memory.set(name, value),
  };
  const ask = async (start: number | null): Promise<Tasks> => {
    const open = Array.from({ length: items }, (_, n) => n).filter(
      (n) => kept.get(`i${n}`)?.state !== 'labelled',
    );
    const first = start ?? open[0] ?? 0;
    return {
      name: 's',
      kind: 'pass',
      values: ['pass', 'fail'],
      instructions: '',
      total: items,
      labelled: items - open.length,
      skipped: open.filter((n) => kept.get(`i${n}`)?.state === 'skipped').length,
      next_open: open[0] ?? null,
      tasks: Array.from({ length: Math.min(50, items - first) }, (_, n) => ({
        ...task(first + n),
        comment: kept.get(`i${first + n}`)?.comment ?? '',
      })),
    };
  };
  const send = async ({ label }: Outgoing) => {
    const failure = failures.shift();
    if (failure) throw failure;
    sent.push(`${label.item_id} ${label.state} ${label.value ?? ''} ${label.comment}`.trim());
    kept.set(label.item_id, label);
  };
  return { sent, storage, memory, start: () => new Labelling('s', 'ada', { ask, send }, storage) };
}

test('labels are sent in order, skipped ones come last, and undo takes back', async () => {
  const { sent, start } = world(3);
  const work = start();
  await work.open();
  work.give('pass');
  work.undo();
  expect([work.view().position, work.view().labelled]).toEqual([0, 0]);
  work.comment(' so so ');
  work.skip();
  work.give('fail');
  work.give('pass');
  await expect.poll(() => work.view().position).toBe(0);
  expect(work.view().seeking).toBe(false);
  work.give('pass');
  await expect.poll(() => work.view().position).toBe(3);
  expect(work.view()).toMatchObject({ labelled: 3, skipped: 0, unsent: 0 });
  expect(sent).toEqual([
    'i0 labelled pass',
    'i0 withdrawn',
    'i0 withdrawn  so so',
    'i0 skipped  so so',
    'i1 labelled fail',
    'i2 labelled pass',
    'i0 labelled pass so so',
  ]);
});

test('what is not sent is there after a reload, and what is refused holds nothing up', async () => {
  const refused = new ApiError(422, { message: 'no label' });
  const { sent, storage, memory, start } = world(3, [refused]);
  const left = [
    { set: 's', label: { item_id: 'i1', person: 'ada', state: 'skipped', comment: '' } },
  ];
  storage.setItem('burnish.labels.unsent', JSON.stringify([...left, ...left]));
  const work = start();
  expect(work.view().unsent).toBe(2);
  await work.open();
  expect(work.view()).toMatchObject({ unsent: 0, refused });
  expect(sent).toEqual(['i1 skipped']);
  expect(memory.get('burnish.labels.unsent')).toBe('[]');
});

test('each value has its key', () => {
  expect(keyOf('pass', 'fail', 1)).toBe('f');
  expect(keyOf('preference', 'left', 0)).toBe('ArrowLeft');
  expect([keyOf('score', 10, 9), keyOf('score', 3, 2)]).toEqual(['0', '3']);
  expect([keyOf('class', 'x', 0), keyOf('class', 'y', 9)]).toEqual(['1', '0']);
});

test('a set is made of what a form has, once nothing is missing', () => {
  const draft = { ...EMPTY, name: ' s ', run: 'e1' };
  expect(newSet(draft)).toMatchObject({ name: 's', kind: 'pass', experiment_id: 'e1' });
  expect(newSet({ ...draft, kind: 'preference' })).toBeNull();
  expect(newSet({ ...draft, high: 'x' })).toBeNull();
  expect(newSet({ ...draft, from: 'dataset' })).toBeNull();
  const classes = { ...draft, kind: 'class' as const, classes: 'a\n\n b ', limit: '5' };
  expect(newSet(classes)).toMatchObject({ classes: ['a', 'b'], limit: 5 });
});
