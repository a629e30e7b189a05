import { connect, type Socket } from 'node:net';
import { type ListedReader, MINOR_VERSIONS, PcscdConversation } from '../../protocols/pcscd.ts';

const DEFAULT_SOCKET = '/run/pcscd/pcscd.comm';
/** Milliseconds for the first answer. */
const MOST_WAIT = 5000;

/** PC/SC's names of what the system reports about a socket that it does not connect. */
const NOT_CONNECTED: Readonly<Record<string, string>> = {
  ENOENT: 'NoService',
  ECONNREFUSED: 'NoService',
  EACCES: 'NoAccess',
  EPERM: 'NoAccess',
};

/** The service cannot be reached any more. `code`: the name of a PC/SC error. */
function ended(code: string, why: string): Error {
  return Object.assign(new Error(why), { code });
}

/** The service speaks a version of the protocol that is not known here. The library of the system may know it. */
export class UnknownProtocol extends Error {
  readonly code = 'UnknownProtocol';
}

/** Reports about the service's list of readers. */
interface PcscdListener {
  /** All readers: at first, and after each change. */
  onList(readers: ListedReader[]): void;
  /** There will be no more lists: the service is gone or refuses this client. Called at most once. */
  onEnd(error: Error): void;
}

/** Reads the list of all readers from pcscd's own socket, as its client library does. Never throws. */
export class PcscdSocket {
  readonly #listener: PcscdListener;
  readonly #mostWait: number;
  #closed = false;
  #answered = false;
  #socket: Socket | null = null;

  constructor(listener: PcscdListener, mostWait = MOST_WAIT) {
    this.#listener = listener;
    this.#mostWait = mostWait;
    this.#connect(MINOR_VERSIONS);
  }

  /** Whether no list and no end is reported any more. */
  get closed(): boolean {
    return this.#closed;
  }

  /** No list and no end is reported after this. */
  close(): void {
    this.#closed = true;
    this.#socket?.destroy();
  }

  /** Connects with the first of these versions; with the next one if the service refuses it. */
  #connect([minor, ...others]: readonly number[]): void {
    if (minor === undefined) {
      this.#end(new UnknownProtocol('pcscd uses another version of its protocol'));
      return;
    }
    const socket = connect(process.env.PCSCLITE_CSOCK_NAME ?? DEFAULT_SOCKET);
    const conversation = new PcscdConversation(minor, readers => {
      socket.setTimeout(0);
      this.#listener.onList(readers);
    });
    this.#socket = socket;
    socket.setTimeout(this.#mostWait, () => this.#end(ended('NoService', 'pcscd does not answer')));
    socket.on('data', (chunk: Buffer) => this.#receive(socket, conversation, chunk, others));
    // Any other error is followed by the event `close`.
    socket.on('error', ({ code = '', message }: NodeJS.ErrnoException) => {
      if (NOT_CONNECTED[code]) this.#end(ended(NOT_CONNECTED[code], message));
    });
    socket.on('close', () => this.#end(this.#whyClosed()));
    socket.write(conversation.greeting);
  }

  /** pcscd closes the connection of a user whom polkit refuses before it answers anything. */
  #whyClosed(): Error {
    return this.#answered
      ? ended('NoService', 'pcscd has closed the connection')
      : ended('SecurityViolation', 'pcscd has refused the connection');
  }

  #receive(socket: Socket, conversation: PcscdConversation, chunk: Buffer, others: readonly number[]): void {
    if (this.#closed) return;
    this.#answered = true;
    const reply = conversation.take(chunk);
    if (reply === 'refused') {
      socket.removeAllListeners('close').destroy();
      this.#connect(others);
    } else for (const message of reply) socket.write(message);
  }

  #end(error: Error): void {
    if (this.#closed) return;
    this.close();
    this.#listener.onEnd(error);
  }
}
