import type { Schemas } from '@/api/client';
import { count } from '@/lib/format';
import { Time } from './Time';

export type WaitingBatch = Schemas['WaitingBatch'];

/** How far a batch is, as its vendor said last. */
export function batchProgress(batch: WaitingBatch): string {
  if (batch.batch_id === null) return 'the vendor has not confirmed it yet';
  if (batch.looked_at === null) return 'nothing is known of it yet';
  return `${count(batch.answered)} of ${count(batch.requests)} answered`;
}

/** What a run waits for: batches of model requests at their vendors. */
export function Waiting({ batches, waited }: { batches: WaitingBatch[]; waited: boolean }) {
  if (batches.length === 0) return null;
  return (
    <div className="notice" role="status" aria-label="Batches">
      <div className="stack tight grow">
        <strong>{waited ? 'Waits for batches' : 'Batches that were left at the vendor'}</strong>
        {batches.map((batch) => (
          <span key={batch.batch_id ?? batch.since}>
            {count(batch.requests)} requests of {batch.model}, sent <Time at={batch.since} />:{' '}
            {batchProgress(batch)}
            {batch.batch_id !== null && <span className="mono small muted"> {batch.batch_id}</span>}
          </span>
        ))}
        {!waited && <span className="small">Resume waits on for them: nothing is paid twice.</span>}
      </div>
    </div>
  );
}
