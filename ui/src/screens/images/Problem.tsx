import { ApiError } from '@/api/client';
import { Failure } from '@/components/States';

/** What went wrong, with its code; what may pass by itself can be tried again. */
export function Problem({ error, retry }: { error: Error; retry: () => void }) {
  const final = error instanceof ApiError && error.retryable === false;
  return <Failure error={error} retry={final ? undefined : retry} again="Retry" coded />;
}
