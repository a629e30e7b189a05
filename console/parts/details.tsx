/** Content that is drawn when a person opens it: while it is closed, it costs the page nothing and sends no request. */
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';

interface DetailsProps {
  readonly summary: ComponentChildren;
  /** Whether it is open at first. */
  readonly isOpened?: boolean;
  /** Called while it is open. */
  readonly children: () => ComponentChildren;
}

type FoldedSectionProps = Readonly<{ title: string; children: () => ComponentChildren }>;

/** A section of a page that a person opens. */
export const FoldedSection = ({ title, children }: FoldedSectionProps) => (
  <section>
    <Details summary={<h2>{title}</h2>}>{children}</Details>
  </section>
);

/** A summary that opens its content. */
export function Details({ summary, isOpened = false, children }: DetailsProps) {
  const isOpen = useSignal(isOpened);
  return (
    <details open={isOpened} onToggle={({ currentTarget }) => (isOpen.value = currentTarget.open)}>
      <summary>{summary}</summary>
      {isOpen.value && children()}
    </details>
  );
}
