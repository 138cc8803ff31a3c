import { expect, test } from 'vitest';
import { actionsOf, type EvaluationView } from '@/screens/evaluations/result';

const found = (status: EvaluationView['status'], optimization_id: string | null = null) =>
  actionsOf({ status, optimization_id });

test('what runs or waits can be cancelled, and what stopped can go on', () => {
  expect(found('pending')).toEqual(['cancel']);
  expect(found('running')).toEqual(['cancel']);
  expect(found('cancelled')).toEqual(['resume']);
  expect(found('failed')).toEqual(['resume']);
  expect(found('completed')).toEqual([]);
});

test('a trial is cancelled and resumed with its run only', () => {
  expect(found('running', 'o1')).toEqual([]);
  expect(found('cancelled', 'o1')).toEqual([]);
});
