
/* What programs leave to their caller; several headers may bring it along. */
#ifndef ISOBAR_CALLER
#define ISOBAR_CALLER 1

/* What a program asks for. The numbers of an exchange's phases are equal. */
enum {
  ISOBAR_EVENT_CALLBACK = 0,
  ISOBAR_EVENT_UPDATE = 1, /* fill the halos */
  ISOBAR_EVENT_START = 2,  /* take the values that neighbours need: they may change behind it */
  ISOBAR_EVENT_WAIT = 3    /* store the values that arrived */
};

/* Kinds of exchanges. */
enum {
  ISOBAR_EXCHANGE_SCALAR = 0,
  ISOBAR_EXCHANGE_VECTOR = 1,   /* pairs, whose components turn between faces of a cube */
  ISOBAR_EXCHANGE_INTERFACE = 2 /* pairs, whose shared edge has one value */
};

/* A statement that the caller carries out. */
typedef struct isobar_event {
  uint32_t size;                    /* sizeof(isobar_event) */
  int32_t event, number;            /* ISOBAR_EVENT_..., and which statement: README.md lists them */
  int32_t kind, width;              /* of an exchange: ISOBAR_EXCHANGE_..., and points of the halo */
  int32_t n_fields, n_values;
  const char *name;                 /* of the callback, or of the exchange's plan; empty without one */
  const isobar_field *fields;       /* as they lie, halo included: `data` is the first element of all */
  const char *const *field_names;
  const bool *is_written;           /* which of them it may write */
  void *const *values;              /* where a callback stores the numbers that it gives: all of them, or the run ends */
  const char *const *value_names;
  const int32_t *value_dtypes;
  int64_t domain[3];
} isobar_event;

/* How a caller answers, in the thread of the call: 0 goes on, and another number ends the run. */
typedef struct isobar_caller {
  int32_t (*answer)(void *user, const isobar_event *event);
  void *user;
} isobar_caller;

#elif ISOBAR_CALLER != 1
#error "two exported programs have different interfaces to their caller: export both with the same version of Isobar"
#endif
