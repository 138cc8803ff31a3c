import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { Redirect, useLocation, useParams } from 'wouter';
import { answer } from '@/api/client';
import { Page } from '@/components/shell/Page';
import { Empty, Failure, Loading } from '@/components/States';
import { say } from '@/components/shell/Toasts';
import { useAddress } from '@/lib/address';
import { SEND, useShortcuts } from '@/lib/keys';
import { shortId } from '@/lib/format';
import { images, newId } from '../client';
import { useCommit, useImageModels, useLookAgain } from '../data';
import { FIRST_FORM, formOf, promptProblem, requestOf, type WorkbenchForm } from './form';
import { Leaderboard } from './Leaderboard';
import { branchParent, NextSteps } from './NextSteps';
import { Problem } from '../Problem';
import { hasEnded } from '../run/stages';
import { RunProgress } from '../run/Progress';
import { Suggestions } from './Suggestions';
import type { ImageRun } from '../types';
import { useImageRun } from '../run/useImageRun';
import { WorkbenchFields } from './Fields';
import { Picture } from '../picture/Picture';
import '../images.css';
import './workbench.css';

/** Where prompts for pictures are tried: settings on one side, what came out on the other. */
export default function Workbench() {
  const { project = '' } = useParams<{ project: string }>();
  const address = useAddress();
  const runId = address.get('run') || null;
  const { query, run, mode, left, lookOn } = useImageRun(runId);
  const opened = openedFrom(address.get('parent'), run);
  const openedCommit = useCommit(opened);
  const models = useImageModels();
  const [edited, setEdited] = useState<WorkbenchForm | null>(null);
  const first = run ? formOf(run) : { ...FIRST_FORM, prompt: openedCommit.data?.prompt ?? '' };
  const form = edited ?? first;
  const change = (changes: Partial<WorkbenchForm>) => setEdited({ ...form, ...changes });
  const results = useRef<HTMLDivElement>(null);
  const start = useStart(project, opened, () => {
    // Where they stand below the form, nothing would seem to happen.
    const top = results.current?.getBoundingClientRect().top ?? 0;
    if (top > window.innerHeight / 2) results.current?.scrollIntoView({ block: 'start' });
  });
  const cancel = useCancel(project);
  const anchor = useCommit(run?.anchor_commit_id ?? null);
  const going = run !== undefined && !hasEnded(run);
  const busy = start.isPending || going;
  const usable = promptProblem(form.prompt) === null;

  const begin = (next: WorkbenchForm, parent: string | null, judged: string | null) => {
    setEdited(next);
    start.mutate({ form: next, parent, judged, id: newId() });
  };
  const submit = () => {
    if (usable && !busy) begin(form, opened, null);
  };
  const use = (prompt: string) => {
    change({ prompt });
    say('Taken as the prompt.', 'info');
  };
  const runNow = (prompt: string) => {
    // The wish stays what it was: scores of one after the other compare.
    const wish = run?.judge_prompt ?? run?.base_prompt ?? null;
    if (!busy) begin({ ...form, prompt }, branchParent(run, opened), wish);
  };
  useShortcuts([{ keys: SEND, says: 'Run eval', act: submit }]);
  const path = `/workbench/${encodeURIComponent(project)}`;
  if (run && run.project_id !== project)
    return (
      <Redirect
        to={`/workbench/${encodeURIComponent(run.project_id)}/eval?run=${run.run_id}`}
        replace
      />
    );
  return (
    <Page
      title="Eval workbench"
      crumbs={[
        { label: 'Images', to: '/workbench' },
        { label: project, to: path },
      ]}
    >
      <div className="workbench">
        <form
          className="card card-body stack workbench-form"
          aria-label="Settings of the run"
          onSubmit={(event) => {
            event.preventDefault();
            submit();
          }}
        >
          <Anchor id={opened} onDrop={() => address.set({ parent: NONE })} />
          <WorkbenchFields form={form} models={models.data} onChange={change} />
          <div className="workbench-submit">
            <button type="submit" className="btn primary" disabled={!usable || busy}>
              {start.isPending ? 'Starting…' : going ? 'Running…' : 'Run eval'}
              <kbd className="kbd workbench-send">Ctrl ⏎</kbd>
            </button>
            {start.error && (
              <div ref={(shown) => shown?.firstElementChild?.scrollIntoView({ block: 'nearest' })}>
                <Problem error={start.error} retry={() => retry(start)} />
              </div>
            )}
          </div>
        </form>
        <div className="stack workbench-run" data-run={run !== undefined} ref={results}>
          {run ? (
            <>
              <RunProgress
                run={run}
                mode={mode}
                left={left}
                onLookOn={lookOn}
                onCancel={() => cancel.mutate(run.run_id)}
              />
              <Leaderboard
                key={run.run_id}
                run={run}
                models={models.data}
                anchor={anchor.data}
                onUse={use}
              />
              {run.suggestions && (
                <Suggestions prompts={run.suggestions} busy={busy} onUse={use} onRun={runNow} />
              )}
              {hasEnded(run) && (
                <NextSteps
                  run={run}
                  busy={busy}
                  onUse={use}
                  onRun={runNow}
                  onRerun={() => begin(formOf(run), branchParent(run, opened), run.judge_prompt)}
                />
              )}
            </>
          ) : query.error ? (
            <Failure error={query.error} retry={() => void query.refetch()} />
          ) : runId !== null ? (
            <Loading lines={6} what="Loading the run" />
          ) : (
            <NothingYet />
          )}
        </div>
      </div>
    </Page>
  );
}

/** In an address: from no commit, whatever the run that is shown was made from. */
const NONE = 'none';

function openedFrom(given: string, run: ImageRun | undefined): string | null {
  if (given === NONE) return null;
  return given || (run?.parent_commit_id ?? null);
}

function NothingYet() {
  return (
    <div className="card">
      <Empty title="Nothing run yet">
        <p>
          A run plans two or three variants of the prompt, draws each, has a judge score them by
          five numbers, ranks them, and suggests three prompts to go on with.
        </p>
      </Empty>
    </div>
  );
}

interface Start {
  form: WorkbenchForm;
  parent: string | null;
  judged: string | null;
  id: string;
}

function retry(start: { variables: Start | undefined; mutate(again: Start): void }): void {
  if (start.variables) start.mutate(start.variables);
}

function useStart(project: string, opened: string | null, onStarted: () => void) {
  const cache = useQueryClient();
  const [, go] = useLocation();
  const look = useLookAgain(project);
  return useMutation({
    mutationFn: ({ form, ...rest }: Start): Promise<ImageRun> =>
      answer(images.POST('/eval-runs', { body: requestOf(form, project, rest) })),
    onSuccess: (run) => {
      cache.setQueryData(['image-run', run.run_id], run);
      look();
      const search = new URLSearchParams({ run: run.run_id, parent: opened ?? NONE });
      go(`/workbench/${encodeURIComponent(project)}/eval?${search}`);
      requestAnimationFrame(onStarted);
    },
  });
}

function useCancel(project: string) {
  const cache = useQueryClient();
  const look = useLookAgain(project);
  return useMutation({
    mutationFn: (id: string): Promise<ImageRun> =>
      answer(images.POST('/eval-runs/{run_id}/cancel', { params: { path: { run_id: id } } })),
    onSuccess: (run) => {
      cache.setQueryData<ImageRun>(['image-run', run.run_id], (before) =>
        before && before.revision > run.revision ? before : run,
      );
      look();
    },
    onError: (error) => say(error.message, 'bad'),
  });
}

/** The commit that the next run starts from. */
function Anchor({ id, onDrop }: { id: string | null; onDrop: () => void }) {
  const commit = useCommit(id);
  if (id === null)
    return (
      <p className="small muted" data-anchor="">
        A first picture is drawn from the prompt, and the variants are made from it.
      </p>
    );
  return (
    <div className="anchor" data-anchor={id}>
      <span className="anchor-picture">
        <Picture
          url={commit.data?.thumbnail_url}
          alt={commit.data?.prompt ?? 'The picture to start from'}
          missing="…"
        />
      </span>
      <div className="stack tight grow">
        <span>
          <strong>Starts from</strong> <code>{shortId(id)}</code>
        </span>
        <span className="small muted anchor-prompt">
          {commit.error ? commit.error.message : commit.data?.prompt}
        </span>
      </div>
      <button type="button" className="btn ghost small" onClick={onDrop} aria-label="Start afresh">
        ✕
      </button>
    </div>
  );
}
