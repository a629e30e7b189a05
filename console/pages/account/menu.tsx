/** Who is signed in, and what the person has chosen for this browser. */
import { useSignal } from '@preact/signals';
import { session } from '../../api/session.ts';
import { lazy } from '../../parts/lazy.tsx';

const MenuContent = lazy(async () => (await import('./menu-content.tsx')).MenuContent);

/** The menu of the person, at the end of the header. */
export function AccountMenu() {
  const wasOpened = useSignal(false);
  return (
    <details
      class="account"
      onToggle={() => {
        wasOpened.value = true;
      }}
    >
      <summary>{session.value?.user.username}</summary>
      {wasOpened.value && <MenuContent />}
    </details>
  );
}
