import { useMutation, useQueryClient } from '@tanstack/react-query';
import { answer, api } from '@/api/client';
import { Failure } from '@/components/States';
import { actionsOf, type EvaluationAction, type EvaluationView } from './result';

const LABELS: Record<EvaluationAction, string> = { cancel: 'Cancel', resume: 'Resume' };

/** Cancel and resume, as far as the evaluation's state allows them. Results are kept by both. */
export function Actions({ view }: { view: EvaluationView }) {
  const act = useAct(view);
  // An owner elsewhere may take a moment to hear of it.
  const stopping = act.isSuccess && act.variables === 'cancel';
  return (
    <>
      {actionsOf(view).map((action) => (
        <button
          key={action}
          type="button"
          className={`btn ${action === 'cancel' ? 'danger' : 'primary'}`}
          disabled={act.isPending || (action === 'cancel' && stopping)}
          onClick={() => act.mutate(action)}
        >
          {action === 'cancel' && stopping ? 'Cancelling…' : LABELS[action]}
        </button>
      ))}
      {act.error && <Failure error={act.error} />}
    </>
  );
}

function useAct(view: EvaluationView) {
  const cache = useQueryClient();
  const params = { path: { experiment_id: view.experiment_id } };
  const acts: Record<EvaluationAction, () => Promise<EvaluationView>> = {
    cancel: () => answer(api.POST('/v1/private/evaluations/{experiment_id}/cancel', { params })),
    resume: () => answer(api.POST('/v1/private/evaluations/{experiment_id}/resume', { params })),
  };
  return useMutation({
    mutationFn: (action: EvaluationAction) => acts[action](),
    onSuccess: (changed) => {
      cache.setQueryData(['evaluation', view.experiment_id], changed);
      void cache.invalidateQueries({ queryKey: ['evaluations'] });
    },
  });
}
