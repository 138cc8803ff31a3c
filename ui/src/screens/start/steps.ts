/** What has been done so far, counted as far as it matters. */
export interface Progress {
  datasets: number;
  evaluations: number;
  runs: number;
  /** A run that has a winner to promote. */
  finished: string | null;
}

export interface Step {
  title: string;
  says: string;
  action: string;
  to: string;
  state: 'done' | 'next' | 'later';
}

type Plan = Omit<Step, 'state'> & { done: boolean };

/** The steps in their order; the first that is not done is the next. */
export function stepsOf(
  found: { agents: readonly string[]; suites: readonly string[] },
  progress: Progress,
): Step[] {
  const plans: Plan[] = [
    {
      title: 'Make an agent',
      says: 'A prompt with placeholders such as {{text}}, and the model that answers. Try it on one input at once.',
      action: 'New agent',
      to: '/agents?new=1',
      done: found.agents.length > 0,
    },
    {
      title: 'Upload items',
      says: 'Inputs with what you expect of each: CSV, JSONL or JSON. Its columns fill the placeholders.',
      action: 'Upload dataset',
      to: '/suites?new=dataset',
      done: progress.datasets > 0 || found.suites.length > 0,
    },
    {
      title: 'Make a suite',
      says: 'How answers are judged: compared with a column, by rules, or by a model with your criteria.',
      action: 'New suite',
      to: '/suites?new=suite',
      done: found.suites.length > 0,
    },
    {
      title: 'Evaluate',
      says: 'How good the prompt is now, item by item.',
      action: 'New evaluation',
      to: '/evaluations?new=1',
      done: progress.evaluations > 0,
    },
    {
      title: 'Improve it',
      says: 'An optimizer tries other prompts and proves the winner on items that it never saw.',
      action: 'New run',
      to: '/runs?new=1',
      done: progress.finished !== null,
    },
    {
      title: 'Promote the winner',
      says: 'Look at what changed, then make it the agent’s active version. There is always a way back.',
      action: progress.finished ? 'Look at the winner' : 'See the runs',
      to: progress.finished ? `/runs/${progress.finished}` : '/runs',
      done: false,
    },
  ];
  const next = plans.findIndex((plan) => !plan.done);
  return plans.map(({ done, ...step }, index) => ({
    ...step,
    state: done ? 'done' : index === next ? 'next' : 'later',
  }));
}
