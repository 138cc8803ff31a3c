/** Which way an arrow key leads in a graph. */
export type Way = 'left' | 'right' | 'up' | 'down';

export const WAYS: Record<string, Way> = {
  ArrowLeft: 'left',
  ArrowRight: 'right',
  ArrowUp: 'up',
  ArrowDown: 'down',
};
