import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { answer, api } from '@/api/client';
import { authorization } from '@/api/key';
import { Dialog } from '@/components/Dialog';
import { Failure } from '@/components/States';
import { say } from '@/components/shell/Toasts';
import { actionsOf, type RunAction, type RunView } from './view';

const LABELS: Record<RunAction, string> = {
  start: 'Start',
  resume: 'Resume',
  again: 'Go on in a copy',
  stop: 'Stop',
  duplicate: 'Duplicate',
  report: 'Report',
};
const PRIMARY: readonly RunAction[] = ['start', 'resume', 'again'];

/** Stop, resume, duplicate and the report, as far as the run's state allows them. */
export function Actions({ run }: { run: RunView }) {
  const [asking, setAsking] = useState(false);
  const act = useAct(run);
  const stopping = run.cancel_requested && run.status === 'running';
  const choose = (action: RunAction) => (action === 'stop' ? setAsking(true) : act.mutate(action));
  return (
    <>
      {actionsOf(run).map((action) => (
        <button
          key={action}
          type="button"
          className={`btn run-action ${PRIMARY.includes(action) ? 'primary' : action === 'stop' ? 'danger' : ''}`}
          disabled={act.isPending || (action === 'stop' && stopping)}
          onClick={() => choose(action)}
        >
          {action === 'stop' && stopping ? 'Stopping…' : LABELS[action]}
        </button>
      ))}
      {act.error && !asking && <Failure error={act.error} />}
      {asking && (
        <Stop
          run={run}
          pending={act.isPending}
          error={act.error}
          onStop={() => act.mutate('stop', { onSuccess: () => setAsking(false) })}
          onClose={() => setAsking(false)}
        />
      )}
    </>
  );
}

function Stop({
  run,
  pending,
  error,
  onStop,
  onClose,
}: {
  run: RunView;
  pending: boolean;
  error: Error | null;
  onStop: () => void;
  onClose: () => void;
}) {
  return (
    <Dialog
      title={`Stop “${run.name}”?`}
      onClose={onClose}
      foot={
        <>
          <button type="button" className="btn" onClick={onClose}>
            Let it run
          </button>
          <button type="button" className="btn danger" disabled={pending} onClick={onStop}>
            Stop the run
          </button>
        </>
      }
    >
      <p>
        It proposes nothing more, and what runs at the moment is given up. All that was evaluated is
        kept, with the best candidate so far.
      </p>
      <p className="muted">
        A stopped run is over. To go on later, go on in a copy: it reuses the results that are
        there.
      </p>
      {error && <Failure error={error} />}
    </Dialog>
  );
}

function useAct(run: RunView) {
  const cache = useQueryClient();
  const [, go] = useLocation();
  const params = { path: { optimization_id: run.optimization_id } };
  const show = (view: RunView) => {
    cache.setQueryData(['run', view.optimization_id], view);
    void cache.invalidateQueries({ queryKey: ['runs'] });
  };
  const resume = (id: string) =>
    answer(
      api.POST('/v1/private/optimizations/{optimization_id}/resume', {
        params: { path: { optimization_id: id } },
      }),
    );
  const copy = async () => {
    const made = await answer(
      api.POST('/v1/private/optimizations/{optimization_id}/duplicate', { params }),
    );
    return made.optimization;
  };
  const acts: Record<RunAction, () => Promise<void>> = {
    start: async () => show(await resume(run.optimization_id)),
    resume: async () => show(await resume(run.optimization_id)),
    stop: async () => {
      show(
        await answer(api.POST('/v1/private/optimizations/{optimization_id}/cancel', { params })),
      );
      say(`Stopping ${run.name}`, 'info');
    },
    duplicate: async () => {
      const made = await copy();
      show(made);
      say('Here is the copy. Start it when you like.');
      go(`/runs/${made.optimization_id}`);
    },
    again: async () => {
      const made = await resume((await copy()).optimization_id);
      show(made);
      say('The copy goes on with the results that are there.');
      go(`/runs/${made.optimization_id}`);
    },
    report: () => download(run),
  };
  return useMutation({
    mutationFn: (action: RunAction) => acts[action](),
  });
}

/** With the key in a header, which a plain link cannot send. */
async function download(run: RunView): Promise<void> {
  const path = `/v1/private/optimizations/${encodeURIComponent(run.optimization_id)}/report`;
  const response = await fetch(path, { headers: authorization() });
  if (!response.ok) throw new Error(`There is no report: the server answered ${response.status}.`);
  const url = URL.createObjectURL(await response.blob());
  const link = document.createElement('a');
  link.href = url;
  link.download = `${run.name.replace(/[^\p{L}\p{N}]+/gu, '-')}.html`;
  link.click();
  // The browser reads it after the click; it may take a moment.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
  say('The report is among your downloads.');
}
