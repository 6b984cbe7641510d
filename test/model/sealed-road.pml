/*
 * The sealed road: handshake, rotation of the keyset, sealed calls, verified backend, answers and receipts.
 *
 * The attacker owns the network, the gateway, every machine but HOME and BACK, and one enclave of the same image (TWIN)
 * whose memory and attestation key it reads. Cryptography is perfect: a term is made by those who know its key.
 * `-DWITHOUT_X` takes one defence away, which must break a property. docs/model.md has the table.
 */
#ifndef SESSIONS
#define SESSIONS 1
#endif

/* Keys of enclaves. OLD was once taken from HOME; FIRST and SECOND are the keys of two epochs. */
#define OLD 0
#define FIRST 1
#define SECOND 2
#define EVE 3
#define KEYS 4
#define STALE SESSIONS
#define QUESTIONS (SESSIONS + 1)

#define taken(key) ((key) == OLD || (key) == EVE)

/* What an enclave does with a sealed request. */
#define CHAT 0
#define SEARCH 1

/* The properties, each of which is asserted where it could break. */
bool secrecy = true;      /* no prompt is known outside HOME and BACK */
bool agreement = true;    /* an accepted answer and its receipt are whole, of this request, on the meant route */
bool no_replay = true;    /* a request runs once */
bool no_relay = true;     /* the machine that holds the key of a channel is the machine of the evidence */
bool no_diversion = true; /* a prompt goes to an enrolled machine alone */
bool unfinished = true;   /* no call comes to its end: false in the witness, so that the model is not empty */

/* 0: FIRST is current. 1: SECOND is current, FIRST still opens. 2: FIRST is erased. */
byte phase = 0;
#define current_key() (phase == 0 -> FIRST : SECOND)
#define opens(key) ((key) == current_key() || ((key) == FIRST && phase < 2))

/* Evidence that HOME gave: by key and question. Questions are known to the attacker once they were sent. */
bool given[KEYS * QUESTIONS];
bool questioned[QUESTIONS];

bool sent[SESSIONS];
byte sealed_to[SESSIONS];
byte runs[SESSIONS];
bool spent[SESSIONS];
bool answered[SESSIONS];
byte did[SESSIONS];

/* Evidence that BACK gave: by nonce and by the connection on which it was asked. STALE is the attacker's own. */
bool vouched[QUESTIONS * QUESTIONS];
bool nonce_sent[QUESTIONS];
/* True: the connection of this call ends at BACK. */
bool reaches_back[SESSIONS];

/* The defences. Each is a condition that a variant leaves out. */
#ifdef WITHOUT_QUESTION
#define answers_the_question true
#else
#define answers_the_question (question == me)
#endif
#ifdef WITHOUT_KEYSET_HASH
#define binds_the_keyset true
#else
#define binds_the_keyset is_bound
#endif
#ifdef WITHOUT_MEASUREMENT
#define is_measured true
#else
#define is_measured is_image
#endif
#ifdef WITHOUT_ENROLMENT
#define is_known_chip true
#else
#define is_known_chip is_enrolled
#endif
#ifdef WITHOUT_NONCE_CHECK
#define is_no_reflection true
#else
#define is_no_reflection (!is_reflected)
#endif
#ifdef WITHOUT_FRESH_SECRET
#define has_the_secret true
#else
#define has_the_secret (other == me)
#endif
#ifdef WITHOUT_RECEIPT_DIGEST
#define receipt_names_the_request true
#else
#define receipt_names_the_request (receipt == me)
#endif
#ifdef WITHOUT_END_MARK
#define may_be_cut true
#else
#define may_be_cut false
#endif
#ifdef WITHOUT_ROUTE
#define is_for_the_route true
#else
#define is_for_the_route (route == CHAT)
#endif
#ifdef WITHOUT_REPLAY_TABLE
#define is_unspent true
#else
#define is_unspent (!spent[request])
#endif
#ifdef WITHOUT_BACKEND_NONCE
#define has_the_nonce true
#else
#define has_the_nonce (nonce == request)
#endif
#ifdef WITHOUT_EXPORTER
#define is_of_the_connection true
#else
#define is_of_the_connection (line == request)
#endif
#ifdef WITHOUT_TLS_KEY
#define binds_the_tls_key true
#else
#define binds_the_tls_key is_key_shown
#endif
#ifdef WITHOUT_BACKEND_ENROLMENT
#define is_known_backend true
#else
#define is_known_backend is_machine_back
#endif
/* BACK takes the exporter from the question, and not from its own connection. */
#ifdef WITH_AN_EXPORTER_THAT_IS_TOLD
#define believes_the_question true
#else
#define believes_the_question false
#endif

#define break_property(property) property = false; assert(property)

/* Evidence that the attacker can show to a client. */
#define given_over_any_key(question) \
  (given[OLD * QUESTIONS + question] || given[FIRST * QUESTIONS + question] || given[SECOND * QUESTIONS + question])
#define made_by_home (is_enrolled && is_image)
#define exists_for_the_client \
  ((made_by_home && is_bound && given[key * QUESTIONS + question]) || \
   (made_by_home && !is_bound && key == EVE && given_over_any_key(question)) || \
   (!made_by_home && key == EVE && questioned[question]))

proctype Client(byte me) {
  byte key, question, other, receipt;
  bool is_enrolled, is_image, is_bound, is_reflected, is_cut;

  questioned[me] = true;

  /* The attacker answers with any evidence that exists, or that a machine of its own makes. */
  do
  :: atomic {
    select(key : OLD .. EVE);
    select(question : 0 .. STALE);
    if
    :: is_enrolled = true; is_image = true; is_bound = true; /* HOME made it over this key */
    :: is_enrolled = true; is_image = true; is_bound = false; /* HOME made it over another key */
    :: is_enrolled = true; is_image = false; is_bound = true; /* the operator boots another image on HOME */
    :: is_enrolled = false; is_image = true; is_bound = true; /* TWIN: the same image elsewhere, taken over */
    fi;
    if
    :: (exists_for_the_client && answers_the_question && binds_the_keyset && is_measured && is_known_chip) -> break
    :: else -> key = 0; question = 0; is_enrolled = 0; is_image = 0; is_bound = 0
    fi
  }
  od;

  atomic {
    if
    :: key == EVE && is_image && !is_enrolled -> break_property(no_diversion)
    :: key == EVE && is_image && is_enrolled -> break_property(no_relay)
    :: taken(key) -> break_property(secrecy)
    :: else
    fi;
    sealed_to[me] = key;
    sent[me] = true;
    key = 0; question = 0; is_enrolled = 0; is_image = 0; is_bound = 0
  }

  /* The attacker gives an answer that exists, of any request, whole or cut; or the request itself. */
  do
  :: atomic {
    select(other : 0 .. SESSIONS - 1);
    select(receipt : 0 .. SESSIONS - 1);
    if :: is_reflected = false :: is_reflected = true fi;
    if :: is_cut = false :: is_cut = true fi;
    if
    :: ((is_reflected || (answered[other] && answered[receipt])) && is_no_reflection && has_the_secret &&
        receipt_names_the_request && (!is_cut || may_be_cut)) -> break
    :: else -> other = 0; receipt = 0; is_reflected = 0; is_cut = 0
    fi
  }
  od;

  atomic {
    if
    :: is_reflected || is_cut || other != me || receipt != me || did[me] != CHAT -> break_property(agreement)
    :: else
    fi;
#ifdef WITNESS
    break_property(unfinished)
#endif
  }
}

/* Evidence that the attacker can show to the enclave. A connection that ends at BACK brings what BACK made. */
#define exists_for_the_enclave \
  ((is_machine_back && vouched[nonce * QUESTIONS + line] && (!is_far_back || is_key_shown)) || \
   (!is_machine_back && !is_far_back && nonce == request && line == request))

/* A call inside HOME, for each delivery by the attacker. */
proctype Call() {
  byte request, route, nonce, line;
  bool is_far_back, is_machine_back, is_key_shown;

  do
  :: atomic {
    select(request : 0 .. SESSIONS - 1);
    select(route : CHAT .. SEARCH);
    if
    :: sent[request] && opens(sealed_to[request]) && is_for_the_route && is_unspent ->
       if
       :: runs[request] > 0 -> break_property(no_replay)
       :: else
       fi;
       if
       :: route != CHAT -> break_property(agreement)
       :: else
       fi;
       spent[request] = true;
       runs[request] = 1;
       did[request] = route;
       /* The enclave connects. The attacker may hold the TLS key of BACK, and end the connection itself. */
       if :: is_far_back = true :: is_far_back = false fi;
       reaches_back[request] = is_far_back;
       nonce_sent[request] = true;
       break
    :: else -> request = 0; route = 0
    fi
  }
  od;

  /* The attacker shows evidence on this connection. */
  do
  :: atomic {
    select(nonce : 0 .. STALE);
    select(line : 0 .. STALE);
    if
    :: is_machine_back = true; is_key_shown = true
    :: is_machine_back = true; is_key_shown = false /* a TLS key of its own, beside evidence of BACK */
    :: is_machine_back = false; is_key_shown = true /* a twin of BACK, taken over */
    fi;
    if
    :: (exists_for_the_enclave && has_the_nonce && is_of_the_connection && binds_the_tls_key && is_known_backend) ->
       break
    :: else -> nonce = 0; line = 0; is_machine_back = 0; is_key_shown = 0
    fi
  }
  od;

  atomic {
    if
    :: !is_far_back && !is_machine_back -> break_property(no_diversion)
    :: !is_far_back && is_machine_back -> break_property(no_relay)
    :: else
    fi;
    answered[request] = true;
    request = 0; route = 0; nonce = 0; line = 0; is_far_back = 0; is_machine_back = 0; is_key_shown = 0
  }
}

/* Time passes for HOME, at any moment. */
proctype Rotation() {
  byte one;
  atomic {
    phase = 1;
#ifdef WITH_A_TABLE_EMPTIED_EARLY
    for (one : 0 .. SESSIONS - 1) {
      spent[one] = false
    }
    one = 0
#endif
  }
  phase = 2
}

/* The attacker asks HOME for evidence under a question that it knows. */
proctype AskHome() {
  byte question;
  do
  :: atomic {
    select(question : 0 .. STALE);
    if
    :: questioned[question] -> given[current_key() * QUESTIONS + question] = true
    :: else
    fi;
    question = 0
  }
  od
}

/* BACK vouches for a connection on which it is asked. The attacker asks on a connection of its own, with any nonce. */
proctype AskBack() {
  byte nonce, line;
  do
  :: atomic {
    select(nonce : 0 .. STALE);
    select(line : 0 .. STALE);
    if
    :: nonce_sent[nonce] && (line == STALE || (nonce == line && (reaches_back[line] || believes_the_question))) ->
       vouched[nonce * QUESTIONS + line] = true
    :: else
    fi;
    nonce = 0; line = 0
  }
  od
}

init {
  byte one;
  atomic {
    /* Of an earlier time: a key of HOME that was taken, with its evidence, and evidence of BACK. */
    given[OLD * QUESTIONS + STALE] = true;
    questioned[STALE] = true;
    nonce_sent[STALE] = true;
    for (one : 0 .. SESSIONS - 1) {
      run Client(one);
      run Call()
    }
    run Call();
    run Rotation();
    run AskHome();
    run AskBack();
    one = 0
  }
}
