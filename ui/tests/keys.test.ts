import { expect, it } from 'vitest';
import { match } from '@/lib/keys';
import { throttled } from '@/live/useThrottled';
import { hasChanges, wordDiff } from '@/lib/words';

const shortcut = (keys: string) => ({ keys, says: keys, act: () => undefined });
const SHORTCUTS = [shortcut('g r'), shortcut('r'), shortcut('j')];

it('takes two keys as one shortcut, and one alone as its own', () => {
  expect(match(SHORTCUTS, 'r', 'g')?.keys).toBe('g r');
  expect(match(SHORTCUTS, 'r', null)?.keys).toBe('r');
  expect(match(SHORTCUTS, 'j', 'g')?.keys).toBe('j');
  expect(match(SHORTCUTS, 'x', 'g')).toBeNull();
});

it('does not lose the last call', async () => {
  let calls = 0;
  const act = throttled(() => (calls += 1), 10);
  for (let time = 0; time < 5; time++) act();
  expect(calls).toBe(1);
  await expect.poll(() => calls).toBe(2);
});

it('shows changes word by word, and gives both texts back', () => {
  const before = 'Answer with <b>one</b> word.';
  const after = 'Answer with <b>two</b> words, please.';
  const pieces = wordDiff(before, after);
  const side = (kind: string) =>
    pieces
      .filter((piece) => piece.kind === 'same' || piece.kind === kind)
      .map((piece) => piece.text)
      .join('');
  expect(side('removed')).toBe(before);
  expect(side('added')).toBe(after);
  expect(hasChanges(pieces)).toBe(true);
  expect(hasChanges(wordDiff(before, before))).toBe(false);
  expect(wordDiff('', '')).toEqual([]);
});
