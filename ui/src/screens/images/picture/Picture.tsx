import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { pictureOf } from '../data';

const KEPT_MS = 5 * 60_000;
/** Fetched a little before it is scrolled into sight. */
const AHEAD = '200px';

/** A picture by its address on the server; `lazy` fetches it once it comes into sight. */
export function Picture({
  url,
  alt,
  lazy = false,
  missing = 'No picture',
}: {
  url: string | null | undefined;
  alt: string;
  lazy?: boolean;
  /** What stands there when there is none. */
  missing?: string;
}) {
  const frame = useRef<HTMLSpanElement>(null);
  const seen = useSeen(frame, lazy);
  const query = useQuery({
    queryKey: ['picture', url],
    queryFn: ({ signal }) => pictureOf(url ?? '', signal),
    enabled: seen && !!url,
    // It is named by its content: the same address is the same picture.
    staleTime: Infinity,
    gcTime: KEPT_MS,
  });
  return (
    <span className="picture" ref={frame} data-picture={query.status}>
      {query.data ? (
        <Drawn blob={query.data} alt={alt} />
      ) : !url ? (
        <span className="picture-none small muted">{missing}</span>
      ) : query.error ? (
        <span className="picture-none small muted" role="img" aria-label={alt}>
          ✕ {query.error.message}
        </span>
      ) : (
        <span className="picture-wait" role="img" aria-label={alt} />
      )}
    </span>
  );
}

function Drawn({ blob, alt }: { blob: Blob; alt: string }) {
  const image = useRef<HTMLImageElement>(null);
  useEffect(() => {
    const address = URL.createObjectURL(blob);
    if (image.current) image.current.src = address;
    return () => URL.revokeObjectURL(address);
  }, [blob]);
  return <img ref={image} alt={alt} draggable={false} />;
}

function useSeen(frame: { current: HTMLElement | null }, lazy: boolean): boolean {
  const [seen, setSeen] = useState(!lazy);
  useEffect(() => {
    const element = frame.current;
    if (seen || !element) return;
    const watch = new IntersectionObserver(
      (entries) => {
        if (entries.some((entry) => entry.isIntersecting)) setSeen(true);
      },
      { rootMargin: AHEAD },
    );
    watch.observe(element);
    return () => watch.disconnect();
  }, [frame, seen]);
  return seen;
}
