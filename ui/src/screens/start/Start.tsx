import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { useModels, useSubjects, type Subjects } from '@/api/choices';
import { answer, api } from '@/api/client';
import { Card } from '@/components/Card';
import { ModelState } from '@/components/form/ModelChoice';
import { Page } from '@/components/shell/Page';
import { say } from '@/components/shell/Toasts';
import { Failure, Loaded, Loading } from '@/components/States';
import { EXAMPLE, EXAMPLE_AGENT, EXAMPLE_MODEL, exampleRows, exampleSuite } from './example';
import { stepsOf, type Progress, type Step } from './steps';
import './start.css';

/** The way from an empty folder to a better prompt, with what is done of it. */
export default function Start() {
  const subjects = useSubjects();
  const progress = useProgress(subjects.data);
  return (
    <Page title="First steps">
      <Loaded query={subjects} lines={8} what="Loading the project">
        {(found) => (
          <>
            {found.project.agent === null && <NoFile />}
            <div className="start-columns">
              <Card title="From a prompt to a better one">
                <ol className="start-steps">
                  {stepsOf(found, progress).map((step, index) => (
                    <StepLine key={step.title} step={step} number={index + 1} />
                  ))}
                </ol>
              </Card>
              <Example subjects={found} />
            </div>
          </>
        )}
      </Loaded>
    </Page>
  );
}

function NoFile() {
  return (
    <div className="notice info">
      <div className="stack tight">
        <strong>This folder has no agent in a burnish.toml, and needs none</strong>
        <span className="small">
          What you make here is kept in the folder’s database (<code>.burnish</code>). Pictures need
          no agent either: <Link href="/workbench">the image workbench</Link>.
        </span>
      </div>
    </div>
  );
}

function StepLine({ step, number }: { step: Step; number: number }) {
  return (
    <li className="start-step" data-state={step.state}>
      <span className="start-mark" aria-hidden="true">
        {step.state === 'done' ? '✓' : number}
      </span>
      <div className="stack tight grow">
        <h3>
          {step.title}
          {step.state === 'done' && <span className="sr-only"> (done)</span>}
        </h3>
        <p className="muted small">{step.says}</p>
        <div>
          <Link className={`btn small ${step.state === 'next' ? 'primary' : ''}`} href={step.to}>
            {step.action}
          </Link>
        </div>
      </div>
    </li>
  );
}

/** Three requests that anybody could make by hand: an agent, its items, a suite. */
function Example({ subjects }: { subjects: Subjects }) {
  const models = useModels();
  const model = models.data?.items.find((one) => one.name === EXAMPLE_MODEL);
  const cache = useQueryClient();
  const make = useMutation({
    mutationFn: makeExample,
    onSuccess: () => {
      for (const key of ['agents', 'suites', 'datasets'])
        void cache.invalidateQueries({ queryKey: [key] });
      say('Made the example: evaluate it next');
    },
  });
  const there = subjects.agents.includes(EXAMPLE) && subjects.suites.includes(EXAMPLE);
  return (
    <Card title="An example that needs no key">
      <div className="stack">
        <p>
          A model of 135 million parameters, which runs inside the server, is to tell whether film
          reviews are positive or negative. The example is a short prompt, 56 reviews and a suite;
          an optimizer then looks for a better prompt.
        </p>
        {models.error && <Failure error={models.error} retry={() => void models.refetch()} />}
        {models.isPending && <Loading lines={2} what="Looking for the model" />}
        {model && <ModelState model={model} />}
        {there ? (
          <ExampleLinks />
        ) : (
          <div>
            <button
              type="button"
              className="btn primary"
              disabled={!model?.ready || make.isPending}
              onClick={() => make.mutate()}
            >
              {make.isPending ? 'Making…' : 'Make the example'}
            </button>
          </div>
        )}
        {make.error && <Failure error={make.error} />}
      </div>
    </Card>
  );
}

function ExampleLinks(): ReactNode {
  const of = encodeURIComponent(EXAMPLE);
  return (
    <div className="stack tight">
      <p role="status">The example is there. What to do with it:</p>
      <div className="row start-links">
        <Link className="btn small" href={`/agents/${of}?edit=1`}>
          Try its prompt
        </Link>
        <Link className="btn small" href={`/evaluations?new=1&of=${of}`}>
          Evaluate it
        </Link>
        <Link className="btn small primary" href={`/runs?new=1&of=${of}&suite=${of}`}>
          Improve it
        </Link>
      </div>
    </div>
  );
}

async function makeExample(): Promise<void> {
  await answer(api.POST('/v1/private/agents', { body: EXAMPLE_AGENT }));
  const stored = await answer(
    api.POST('/v1/private/datasets', {
      params: { query: { name: EXAMPLE, format: 'jsonl' } },
      headers: { 'Content-Type': 'application/x-ndjson' },
      body: exampleRows() as never,
      bodySerializer: (body) => body as unknown as string,
    }),
  );
  await answer(api.POST('/v1/private/suites', { body: exampleSuite(stored.dataset_id) }));
}

function useProgress(subjects: Subjects | undefined): Progress {
  const few = { params: { query: { limit: 1 } } };
  const query = useQuery({
    queryKey: ['start', subjects?.agents.length, subjects?.suites.length],
    enabled: subjects !== undefined,
    queryFn: async () => {
      const [datasets, evaluations, runs] = await Promise.all([
        answer(api.GET('/v1/private/datasets', few)),
        answer(api.GET('/v1/private/evaluations', few)),
        answer(api.GET('/v1/private/optimizations', { params: { query: { limit: 50 } } })),
      ]);
      const best = runs.items.find((one) => one.status === 'completed');
      return {
        datasets: datasets.items.length,
        evaluations: evaluations.items.length,
        runs: runs.items.length,
        finished: best?.optimization_id ?? null,
      };
    },
  });
  return query.data ?? { datasets: 0, evaluations: 0, runs: 0, finished: null };
}
