package secrets

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"kolla.openstack.org/kolla/lang/configs"
)

// staged is the name of the key that becomes the primary one by the next rotation. Everybody can read
// with it before anybody writes with it.
const staged = "0"

// makeRepository returns a repository of keys by their names: "0" is staged, the highest one is the
// primary key, and the others are former primary keys, the oldest of which has the lowest number. It
// keeps existing keys. If their number changes, the primary key gets the highest name, and the oldest
// keys go first. Without generate, new keys are missing.
//
// Unlike Keystone's own rotation, a rotation moves keys to other names, so that a Secret has the
// same names for ever. Programs use only the order of the names.
func makeRepository(own map[string][]byte, count int, rotate, generate bool) map[string][]byte {
	next, former := readRepository(own)
	if rotate && next != nil {
		former, next = append([][]byte{next}, former...), nil
	}
	out := map[string][]byte{}
	add := func(number int, key []byte) {
		if key == nil && generate {
			key = newKey()
		}
		if key != nil {
			out[strconv.Itoa(number)] = key
		}
	}
	for number := count - 1; number > 0; number-- {
		var key []byte
		if len(former) > 0 {
			key, former = former[0], former[1:]
		}
		add(number, key)
	}
	if count == 1 && len(former) > 0 {
		next = former[0]
	}
	add(0, next)
	return out
}

// readRepository returns the staged key, or nil, and the others, the primary one first. A single key is
// the primary one.
func readRepository(own map[string][]byte) (next []byte, former [][]byte) {
	var numbers []int
	for name, key := range own {
		if number, err := strconv.Atoi(name); err == nil && number > 0 && len(key) > 0 {
			numbers = append(numbers, number)
		}
	}
	slices.Sort(numbers)
	for _, number := range slices.Backward(numbers) {
		former = append(former, own[strconv.Itoa(number)])
	}
	next = own[staged]
	switch {
	case len(former) > 0:
	case len(next) > 0:
		former, next = [][]byte{next}, nil
	case len(own[configs.KeyValue]) > 0: // one key, before the secret became a repository
		former = [][]byte{own[configs.KeyValue]}
	}
	if len(next) == 0 {
		next = nil
	}
	return next, former
}

// newKey makes a Fernet key: 16 bytes for signatures and 16 bytes for encryption, in URL-safe
// base64.
func newKey() []byte {
	const bytes = 32
	return random(bytes)
}

// Age is the age of the keys of a live Secret.
type Age struct {
	Created time.Time
	// Rotated is the annotation with the time of the last rotation; empty: they were never rotated.
	Rotated string
}

// since returns the time at which the keys became as they are.
func (a Age) since() time.Time {
	if at, err := time.Parse(time.RFC3339, a.Rotated); err == nil {
		return at
	}
	return a.Created
}

// Rotation describes when the keys of a repository are rotated.
type Rotation struct {
	Count     int           // number of keys
	Days      int           // age from which a plan rotates the keys; 0: only on request
	Keep      time.Duration // how long a former primary key has to stay
	Requested bool          // the operator asks for a rotation now
}

// Interval returns the shortest time between two rotations that keeps each former primary key long
// enough: Count-2 rotations later, it is dropped.
func (r Rotation) Interval() time.Duration {
	return r.Keep / time.Duration(max(1, r.Count-(configs.RotatedKeys-1)))
}

// Due returns the reason to rotate keys now, as the end of a sentence. It is empty if they are kept. The
// error says why a requested rotation is not possible.
func (r Rotation) Due(age Age, now time.Time) (why string, err error) {
	since := age.since()
	old := now.Sub(since)
	switch {
	case !r.Requested && (r.Days == 0 || old < time.Duration(r.Days)*day):
		return "", nil
	case !r.Requested:
		return fmt.Sprintf("they are %d days old", int(old/day)), nil
	case r.Count < configs.RotatedKeys:
		return "", fmt.Errorf("a rotation needs at least %d keys, and the secret has %d", configs.RotatedKeys, r.Count)
	case old < r.Interval():
		return "", fmt.Errorf("its keys are as they are since %s, and a rotation before %s would drop a key that valid data still need",
			since.UTC().Format(time.DateTime), since.Add(r.Interval()).UTC().Format(time.DateTime))
	}
	return requested, nil
}

// requested is the reason of a renewal that the operator asks for.
const requested = "requested with -rotate"

// Requested returns the reason of a renewal of other values that the operator asks for.
func Requested() string { return requested }

// rotationMark separates the revision of keys from the number of their rotations.
const rotationMark = "."

// RotatedRevision returns the revision of the keys after one more rotation. It only adds the number of
// rotations: see Lasting.
func RotatedRevision(revision string) string {
	return Lasting(revision) + rotationMark + strconv.Itoa(Rotations(revision)+1)
}

// Rotations returns how often the keys of a revision were rotated.
func Rotations(revision string) int {
	_, number, _ := strings.Cut(revision, rotationMark)
	rotations, _ := strconv.Atoi(number)
	return rotations
}

// Lasting returns the part of a revision that a rotation keeps. Pods that read keys from a mounted
// Secret have it in their annotations: kubelet brings them the rotated keys, so they go on.
func Lasting(revision string) string {
	lasting, _, _ := strings.Cut(revision, rotationMark)
	return lasting
}

// rotatedAt returns the value of the annotation for the keys that Resolve has just rotated.
func rotatedAt(generate bool) string {
	if !generate {
		return placeholder
	}
	return time.Now().UTC().Format(time.RFC3339)
}
