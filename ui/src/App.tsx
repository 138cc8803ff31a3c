import { lazy, Suspense } from 'react';
import { Redirect, Route, Switch } from 'wouter';
import { useSubjects } from './api/choices';
import { Boundary } from './components/shell/Boundary';
import { KeyGate } from './components/shell/KeyGate';
import { Page } from './components/shell/Page';
import { Shell } from './components/shell/Shell';
import { Empty, Loading } from './components/States';

const Start = lazy(() => import('./screens/start/Start'));
const Runs = lazy(() => import('./screens/runs/Runs'));
const Run = lazy(() => import('./screens/run/Run'));
const CompareRuns = lazy(() => import('./screens/runs/compare/Compare'));
const Candidate = lazy(() => import('./screens/candidate/Candidate'));
const Evaluations = lazy(() => import('./screens/evaluations/list/Evaluations'));
const Evaluation = lazy(() => import('./screens/evaluations/Evaluation'));
const TestDetail = lazy(() => import('./screens/evaluations/test/Detail'));
const Agents = lazy(() => import('./screens/agents/Agents'));
const Agent = lazy(() => import('./screens/agents/Agent'));
const Optimizers = lazy(() => import('./screens/optimizers/Optimizers'));
const Optimizer = lazy(() => import('./screens/optimizers/Optimizer'));
const Suites = lazy(() => import('./screens/data/Suites'));
const Suite = lazy(() => import('./screens/data/Suite'));
const Dataset = lazy(() => import('./screens/data/Dataset'));
const Labels = lazy(() => import('./screens/labels/Labels'));
const LabelSet = lazy(() => import('./screens/labels/LabelSet'));
const Label = lazy(() => import('./screens/labels/label/Label'));
const ImageProjects = lazy(() => import('./screens/images/Projects'));
const ImageProject = lazy(() => import('./screens/images/Project'));
const Workbench = lazy(() => import('./screens/images/workbench/Workbench'));
const CompareCommits = lazy(() => import('./screens/images/compare/Compare'));

/** Who has nothing yet is led; all others see their runs. */
function Front() {
  const subjects = useSubjects();
  if (!subjects.data && !subjects.error) return <Loading what="Loading the project" />;
  const empty = subjects.data?.agent === '';
  return <Redirect to={empty ? '/start' : '/runs'} replace />;
}

function NotFound() {
  return (
    <Page title="Not here" crumbs={[{ label: 'Runs', to: '/runs' }]}>
      <Empty title="There is no such page">Perhaps the address is cut short.</Empty>
    </Page>
  );
}

export function App() {
  return (
    <KeyGate>
      <Shell>
        <Boundary>
          <Suspense fallback={<Loading what="Loading the screen" />}>
            <Switch>
              <Route path="/" component={Front} />
              <Route path="/start" component={Start} />
              <Route path="/runs" component={Runs} />
              <Route path="/compare" component={CompareRuns} />
              <Route path="/runs/:id" component={Run} />
              <Route path="/runs/:id/candidates/:candidate" component={Candidate} />
              <Route path="/evaluations" component={Evaluations} />
              <Route path="/evaluations/:id" component={Evaluation} />
              <Route path="/evaluations/:id/items/:item" component={TestDetail} />
              <Route path="/agents" component={Agents} />
              <Route path="/agents/:name" component={Agent} />
              <Route path="/optimizers" component={Optimizers} />
              <Route path="/optimizers/:agent/:name" component={Optimizer} />
              <Route path="/suites" component={Suites} />
              <Route path="/suites/:name" component={Suite} />
              <Route path="/datasets/:id" component={Dataset} />
              <Route path="/labels" component={Labels} />
              <Route path="/labels/:name" component={LabelSet} />
              <Route path="/labels/:name/label" component={Label} />
              <Route path="/workbench" component={ImageProjects} />
              <Route path="/workbench/:project" component={ImageProject} />
              <Route path="/workbench/:project/eval" component={Workbench} />
              <Route path="/workbench/:project/compare" component={CompareCommits} />
              <Route component={NotFound} />
            </Switch>
          </Suspense>
        </Boundary>
      </Shell>
    </KeyGate>
  );
}
