import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { answer, api } from '@/api/client';
import { Dialog } from '@/components/Dialog';
import { Field } from '@/components/form/Field';
import { Failure } from '@/components/States';
import { count } from '@/lib/format';
import { isLive, type EvaluationResult, type EvaluationView } from './result';

const SUITE = 'regressions';

/** Keeps the items that failed as cases of a regression suite; nothing where none did. */
export function KeepCases({ view, result }: { view: EvaluationView; result: EvaluationResult }) {
  const [open, setOpen] = useState(false);
  if (result.failed === 0 || isLive(view.status)) return null;
  return (
    <>
      <button type="button" className="btn small" onClick={() => setOpen(true)}>
        Keep failing as cases…
      </button>
      {open && <CasesDialog experiment={view.experiment_id} onClose={() => setOpen(false)} />}
    </>
  );
}

function CasesDialog({ experiment, onClose }: { experiment: string; onClose: () => void }) {
  const cache = useQueryClient();
  const [name, setName] = useState(SUITE);
  const keep = useMutation({
    mutationFn: () =>
      answer(
        api.POST('/v1/private/regression-cases', {
          body: { name: name.trim(), experiment_id: experiment, which: 'failing', append: true },
        }),
      ),
    onSuccess: () => void cache.invalidateQueries({ queryKey: ['datasets'] }),
  });
  const kept = keep.data;
  return (
    <Dialog
      title="Keep failing items as cases"
      onClose={onClose}
      foot={
        <>
          <button type="button" className="btn" onClick={onClose}>
            {kept ? 'Close' : 'Leave it'}
          </button>
          {!kept && (
            <button
              type="button"
              className="btn primary"
              disabled={keep.isPending || name.trim() === ''}
              onClick={() => keep.mutate()}
            >
              {keep.isPending ? 'Keeping…' : 'Keep them'}
            </button>
          )}
        </>
      }
    >
      {kept ? (
        <p role="status">
          {count(kept.added)} new {kept.added === 1 ? 'case' : 'cases'} in{' '}
          <Link href={`/datasets/${kept.dataset_id}`}>{kept.name}</Link>, which has{' '}
          {count(kept.items)}.
        </p>
      ) : (
        <>
          <p>
            Each item that did not pass becomes a row of the dataset, with this run, the answer and
            the reason. Rows that it has already are left out.
          </p>
          <Field label="Dataset" hint="One of this name goes on; else a new one is made.">
            {(given) => (
              <input {...given} value={name} onChange={(event) => setName(event.target.value)} />
            )}
          </Field>
          {keep.error && <Failure error={keep.error} />}
        </>
      )}
    </Dialog>
  );
}
