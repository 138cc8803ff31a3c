import { expect, it } from 'vitest';
import { batchProgress } from '@/components/Waiting';

it('says how far a batch is, and what nobody knows yet', () => {
  const batch = {
    batch_id: 'batch_1',
    model: 'openai/small',
    requests: 2000,
    answered: 1200,
    since: '2026-05-01T12:00:00+00:00',
    looked_at: '2026-05-01T13:00:00+00:00',
  };

  expect(batchProgress(batch)).toBe('1,200 of 2,000 answered');
  expect(batchProgress({ ...batch, looked_at: null })).toBe('nothing is known of it yet');
  expect(batchProgress({ ...batch, batch_id: null })).toContain('not confirmed');
});
