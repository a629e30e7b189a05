/** The frame of every page: navigation, state of the stream, the page itself. */
import { Menu, Search } from 'lucide';
import type { ComponentChildren } from 'preact';
import { useEffect, useErrorBoundary, useRef } from 'preact/hooks';
import { offer, signingIn } from './api/offer.ts';
import { isHolder, mayOnlyRegisterKey, session } from './api/session.ts';
import { startStepUp, waiting } from './api/step-up.ts';
import { startStream } from './api/stream.ts';
import { AccountMenu } from './pages/accounts/menu.tsx';
import { componentOf, groups, isShown, type PageEntry, pageAt, pages } from './pages.tsx';
import { Button } from './parts/button.tsx';
import { Icon, Logo } from './parts/icon.tsx';
import { lazy, lazyDialog } from './parts/lazy.tsx';
import { adding, modifier, opened, startKeys } from './parts/open.ts';
import { StreamStatus, Waiting } from './parts/status.tsx';
import { useSteps } from './parts/steps.ts';
import { toasts } from './parts/toast.ts';
import { WholeText } from './parts/whole-text.tsx';
import { linkTo, place, recordTitle } from './router.ts';
import { text } from './text/words.ts';

const SignIn = lazy(async () => (await import('./pages/sign-in/page.tsx')).SignInPage);
const SsoTerminal = lazy(async () => (await import('./pages/sign-in/terminal-sso.tsx')).SsoTerminal);
const OfferDialog = lazyDialog(async () => (await import('./pages/offer/dialog.tsx')).OfferDialog);
const ToastRegion = lazy(async () => (await import('./parts/toast-region.tsx')).ToastRegion);
const AddDevice = lazyDialog(async () => (await import('./pages/adding/dialog.tsx')).AddDevice);
const Palette = lazyDialog(async () => (await import('./palette/palette.tsx')).Palette);
const StepUp = lazyDialog(async () => (await import('./parts/step-up.tsx')).StepUp);

startStream();
startStepUp();
startKeys();

/** The console, with a question in front of it if a link offers another session; or the question whether a terminal is signed in. */
export const App = () => (signingIn.value ? <SsoTerminal key={signingIn.value} code={signingIn.value} /> : <Console />);

const Console = () => (
  <>
    {session.value !== undefined && (session.value ? <Frame /> : <SignIn />)}
    {offer.value && <OfferDialog key={offer.value.number} offered={offer.value} />}
  </>
);

const Unknown = () => (
  <>
    <h1>{text.common.unknownPage}</h1>
    <p>
      <a href={linkTo('overview')}>{text.nav.overview}</a>
    </p>
  </>
);

function Frame() {
  const { path } = place.value;
  const page = pageAt(mayOnlyRegisterKey.value ? ['account'] : path);
  const Page = page && componentOf(page, path);
  const title = page ? text.nav[page.name] : text.common.unknownPage;
  const record = recordTitle.value;
  useEffect(() => {
    document.title = `${record?.path === path.join('/') ? record.title : title} · devmgr`;
  }, [title, record, path.join('/')]);
  return (
    <div class="shell">
      <header class="top">
        <Button words={text.nav.skip} class="skip" onClick={() => document.querySelector('main')?.focus()} />
        {isHolder.value ? (
          <Brand />
        ) : (
          <>
            <Pages present={page} />
            <StreamStatus />
          </>
        )}
        <AccountMenu />
      </header>
      <div>
        <Waiting />
        {waiting.value && <StepUp />}
        <main tabIndex={-1}>
          <Boundary key={path.join('/')}>{Page ? <Page /> : <Unknown />}</Boundary>
          <WholeText />
          {adding.value && <AddDevice key={adding.value} onClose={() => (adding.value = null)} />}
        </main>
        {opened.value && <Palette />}
        {toasts.value && <ToastRegion />}
      </div>
    </div>
  );
}

/** The name of the program, which leads to the first page. */
const Brand = () => (
  <a class="brand" href={linkTo('')}>
    <Logo />
    devmgr
  </a>
);

/** The pages by group: in the sidebar; on phones in a drawer, which the browser closes at Esc and at a press outside. */
function Pages({ present }: { readonly present: PageEntry | null }) {
  const words = text.nav;
  const nav = useRef<HTMLElement>(null);
  useEffect(() => {
    const end = new AbortController();
    const close = () => nav.current?.hidePopover();
    nav.current?.addEventListener('click', close, { signal: end.signal });
    // A phone that is turned may have room for the sidebar.
    addEventListener('resize', close, { signal: end.signal });
    return () => end.abort();
  }, []);
  return (
    <>
      <button type="button" class="plain open-pages" aria-label={words.label} popovertarget="pages">
        <Icon of={Menu} />
      </button>
      <Brand />
      <button type="button" class="find" onClick={() => (opened.value = 'search')}>
        <Icon of={Search} />
        <span>{words.find}</span>
        <kbd>{modifier()}K</kbd>
      </button>
      <nav ref={nav} id="pages" popover="auto" aria-label={words.label}>
        {groups.slice(0, useSteps(groups.length)).map(group => (
          <PageGroup key={group} name={group} present={present} />
        ))}
      </nav>
    </>
  );
}

function PageGroup({ name, present }: { readonly name: (typeof groups)[number]; readonly present: PageEntry | null }) {
  const words = text.nav;
  const shown = pages.filter(page => page.group === name && isShown(page));
  if (!shown.length) return null;
  return (
    <>
      <p class="page-group" id={`pages-${name}`}>
        {words.group[name]}
      </p>
      <ul aria-labelledby={`pages-${name}`}>
        {shown.map(page => (
          <li key={page.name}>
            <a
              href={linkTo(page.name === 'overview' ? '' : page.name)}
              aria-current={page === present ? 'page' : undefined}
            >
              {page.icon && <Icon of={page.icon} />}
              {words[page.name]}
            </a>
          </li>
        ))}
      </ul>
    </>
  );
}

/** A page that fails leaves the others usable. */
function Boundary({ children }: { readonly children: ComponentChildren }) {
  const [error] = useErrorBoundary();
  return <>{error ? <p role="alert">{text.problem.crashed}</p> : children}</>;
}
