/** The frame of every page: navigation, state of the stream, the page itself. */
import { useSignal, useSignalEffect } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useErrorBoundary, useRef } from 'preact/hooks';
import { offer } from './api/offer.ts';
import { mayOnlyRegisterKey, session } from './api/session.ts';
import { startStepUp, waiting } from './api/step-up.ts';
import { startStream } from './api/stream.ts';
import { componentOf, isShown, type PageEntry, pageAt, pages } from './pages.tsx';
import { LoadFailure, lazy } from './parts/lazy.tsx';
import { StreamStatus, Waiting } from './parts/status.tsx';
import { linkTo, place } from './router.ts';
import { text } from './text/text.ts';

const SignIn = lazy(async () => (await import('./pages/sign-in.tsx')).SignInPage);
const OfferDialog = lazy(async () => (await import('./pages/offer/dialog.tsx')).OfferDialog);
const MenuContent = lazy(async () => (await import('./pages/account/menu.tsx')).MenuContent);
const StepUp = lazy(async () => (await import('./parts/step-up.tsx')).StepUp);

startStream();
startStepUp();

/** The console, with a question in front of it if a link offers another session. */
export function App() {
  return (
    <>
      {session.value !== undefined && (session.value ? <Frame /> : <SignIn />)}
      {offer.value && <OfferDialog key={offer.value.number} offered={offer.value} />}
    </>
  );
}

function Frame() {
  const { path } = place.value;
  const page = pageAt(mayOnlyRegisterKey.value ? ['account'] : path);
  const title = page ? text.value.nav[page.name] : text.value.common.unknownPage;
  useEffect(() => {
    document.title = `${title} · devmgr`;
  }, [title]);
  return (
    <>
      <header class="top">
        <button type="button" class="skip" onClick={() => document.querySelector('main')?.focus()}>
          {text.value.nav.skip}
        </button>
        <a class="brand" href={linkTo('')}>
          devmgr
        </a>
        <nav aria-label={text.value.nav.label}>
          {pages
            .filter(entry => isShown(entry) && !entry.isInMenu)
            .map(({ name }) => (
              <a
                key={name}
                href={linkTo(name === 'overview' ? '' : name)}
                aria-current={page?.name === name ? 'page' : undefined}
              >
                {text.value.nav[name]}
              </a>
            ))}
        </nav>
        <StreamStatus />
        <AccountMenu />
      </header>
      <Waiting />
      {waiting.value && <StepUp />}
      <main tabIndex={-1}>
        <Boundary key={path.join('/')}>
          {page ? <Loaded page={page} isItem={path.length > 1} /> : <p>{text.value.common.unknownPage}</p>}
        </Boundary>
      </main>
    </>
  );
}

function Loaded({ page, isItem }: { readonly page: PageEntry; readonly isItem: boolean }) {
  const component = componentOf(page, isItem);
  useEffect(() => void component.start(), [component]);
  const Page = component.state.value;
  if (Page === 'failed') return <LoadFailure start={component.start} />;
  if (Page === 'loading' || Page === null) return <p role="status">{text.value.common.loading}</p>;
  return <Page />;
}

/** The menu of the person, at the end of the header. */
function AccountMenu() {
  const wasOpened = useSignal(false);
  const ref = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    const menu = ref.current;
    if (!menu) return;
    const close = () => {
      menu.open = false;
    };
    const end = new AbortController();
    const { signal } = end;
    addEventListener('pointerdown', ({ target }) => target instanceof Node && !menu.contains(target) && close(), {
      signal,
    });
    menu.addEventListener(
      'focusout',
      ({ relatedTarget }) => relatedTarget instanceof Node && !menu.contains(relatedTarget) && close(),
      { signal },
    );
    menu.addEventListener(
      'keydown',
      ({ key }) => {
        if (key !== 'Escape' || !menu.open) return;
        close();
        menu.querySelector('summary')?.focus();
      },
      { signal },
    );
    return () => end.abort();
  }, []);
  useSignalEffect(() => {
    place.value;
    if (ref.current) ref.current.open = false;
  });
  return (
    <details
      ref={ref}
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

/** A page that fails leaves the others usable. */
function Boundary({ children }: { readonly children: ComponentChildren }) {
  const [error] = useErrorBoundary();
  return <>{error ? <p role="alert">{text.value.problem.crashed}</p> : children}</>;
}
