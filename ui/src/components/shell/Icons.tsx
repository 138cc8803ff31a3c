/** Small line drawings for the navigation. */
const PATHS = {
  runs: 'M3 17 L8 11 L12 14 L17 5 M17 5 h-4 M17 5 v4',
  agents: 'M10 3 a3.2 3.2 0 1 1 0 6.4 a3.2 3.2 0 1 1 0-6.4 M4 17 c0-4 3-5.5 6-5.5 s6 1.5 6 5.5',
  optimizers: 'M4 5 h12 M4 10 h12 M4 15 h12 M8 3 v4 M13 8 v4 M7 13 v4',
  evaluations: 'M4 10.5 l3.5 3.5 L16 5.5',
  data: 'M4 5 c0-2 12-2 12 0 v10 c0 2-12 2-12 0 z M4 5 c0 2 12 2 12 0 M4 10 c0 2 12 2 12 0',
  images: 'M3 4 h14 v12 H3 z M3 14 l4-4 3 3 3-4 4 5',
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg width="18" height="18" viewBox="0 0 20 20" aria-hidden="true">
      <path
        d={PATHS[name]}
        fill="none"
        stroke="currentColor"
        strokeWidth="1.7"
        strokeLinecap="round"
        strokeLinejoin="round"
      />
    </svg>
  );
}
