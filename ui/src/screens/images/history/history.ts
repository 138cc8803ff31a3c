import type { Commit } from '../types';

/** Commits by who was made from whom. A parent that was deleted is none. */
export interface History {
  /** The newest first. */
  commits: ReadonlyMap<string, Commit>;
  edges: readonly { from: string; to: string }[];
  /** The one with the highest score for the wish that was asked last: others do not compare. */
  best: string | null;
  /** Older ones are left out. */
  truncated: boolean;
}

export function historyOf(nodes: readonly Commit[], truncated = false): History {
  const commits = new Map(nodes.map((commit) => [commit.commit_id, commit]));
  const edges = nodes.flatMap((commit) =>
    commit.parent_commit_id !== null && commits.has(commit.parent_commit_id)
      ? [{ from: commit.parent_commit_id, to: commit.commit_id }]
      : [],
  );
  let best: Commit | null = null;
  const wish = nodes.find((commit) => commit.score !== null)?.judged_by;
  for (const commit of nodes)
    if (commit.score !== null && commit.judged_by === wish)
      if ((best?.score ?? -Infinity) < commit.score) best = commit;
  return { commits, edges, best: best?.commit_id ?? null, truncated };
}

/** A commit with all that it came from. */
export function lineOf(history: History, id: string | null): ReadonlySet<string> {
  const line = new Set<string>();
  for (let at = id; at !== null && !line.has(at);) {
    const commit = history.commits.get(at);
    if (!commit) break;
    line.add(at);
    at = commit.parent_commit_id;
  }
  return line;
}

/** What a commit is, in a few words. */
export function roleOf(commit: Commit): string {
  if (commit.status === 'failed') return 'failed attempt';
  if (commit.variant_id !== null) return `variant ${commit.variant_id}`;
  if (commit.run_id !== null) return 'anchor';
  return 'upload';
}
