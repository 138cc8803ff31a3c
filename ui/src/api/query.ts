import { QueryClient } from '@tanstack/react-query';
import { ApiError } from './client';

/** A mistake is not repeated; a server that is away is asked again. */
export function worthRetrying(failures: number, error: Error): boolean {
  if (error instanceof ApiError && error.status >= 400 && error.status < 500) return false;
  return failures < 2;
}

export const queries = new QueryClient({
  defaultOptions: {
    queries: { retry: worthRetrying, staleTime: 2_000, refetchOnWindowFocus: false },
  },
});
