package backup_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"filippo.io/age"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"kolla.openstack.org/kolla/internal/run/backup"
	"kolla.openstack.org/kolla/providers"
)

// world is a cluster with one StatefulSet. Commands in its pods are processes of this machine, and claims
// are directories: $VOLUME is that of the first member's pod, and so on.
type world struct {
	*testing.T
	dir  string // has a directory for each claim
	live *unstructured.Unstructured
	made map[string]*unstructured.Unstructured // the pods that were made and not deleted

	texts []backup.Text // of the next backup

	mu     sync.Mutex
	events []string
	// Hooks, or nil.
	onWait func(ref providers.Ref) error
	onRun  func(pod string, command []string) error // may change the command
	// drains: the connection to a pod reads all output, also after an error of its reader.
	drains bool
	// impatient: the connection is reset if its output is not read yet when the command ends, as the API
	// server does it after ten seconds.
	impatient bool
	// cut is how many bytes at the end of an output of the StatefulSet's pods get lost.
	cut int
}

const (
	address = "service.db/StatefulSet/db-server"
	// recordsTogether is what the workload saves.
	recordsTogether = "record 1\nrecord 2\n"
)

// newWorld returns a StatefulSet whose members have the same records.
func newWorld(t *testing.T, members int, offline bool) *world {
	t.Helper()
	w := &world{T: t, dir: t.TempDir(), made: map[string]*unstructured.Unstructured{}}
	set := map[string]any{
		"apiVersion": "apps/v1", "kind": "StatefulSet",
		"metadata": map[string]any{
			"name": "db-server", "namespace": "cloud", "uid": "u-1",
			"labels":      map[string]any{providers.LabelCloud: "prod"},
			"annotations": map[string]any{"other.example.org/note": "not kolla's"},
			"managedFields": []any{
				map[string]any{"manager": providers.FieldManager, "operation": "Apply", "fieldsV1": map[string]any{
					"f:metadata": map[string]any{"f:labels": map[string]any{"f:" + providers.LabelCloud: map[string]any{}}},
					"f:spec":     map[string]any{"f:replicas": map[string]any{}, "f:serviceName": map[string]any{}},
				}},
				map[string]any{"manager": "kubectl", "operation": "Update", "fieldsV1": map[string]any{
					"f:metadata": map[string]any{"f:annotations": map[string]any{"f:other.example.org/note": map[string]any{}}},
				}},
			},
		},
		"spec": map[string]any{
			"replicas": int64(members), "serviceName": "db", "podManagementPolicy": "Parallel",
			"template": map[string]any{"spec": map[string]any{
				"securityContext":  map[string]any{"runAsUser": int64(42434)},
				"imagePullSecrets": []any{map[string]any{"name": "registry"}},
				"serviceAccount":   "db",
				"volumes":          []any{map[string]any{"name": "config", "configMap": map[string]any{"name": "db"}}},
				"containers": []any{map[string]any{
					"name": "server", "image": "db:1", "env": []any{map[string]any{"name": "PASSWORD", "value": "x"}},
					"ports":           []any{map[string]any{"containerPort": int64(3306)}},
					"securityContext": map[string]any{"allowPrivilegeEscalation": false},
					"volumeMounts":    []any{map[string]any{"name": "data", "mountPath": "/var/lib/db"}, map[string]any{"name": "config", "mountPath": "/etc/db"}},
				}},
			}},
			"volumeClaimTemplates": []any{map[string]any{"metadata": map[string]any{"name": "data"}}},
		},
	}
	w.live = &unstructured.Unstructured{Object: set}
	for i := range members {
		if err := os.MkdirAll(w.volume(i), 0o700); err != nil {
			t.Fatal(err)
		}
		w.write(i, "records", recordsTogether)
	}
	w.setCommands(&providers.Backup{
		What: "records", Container: "server", Offline: offline,
		Save:     []string{"sh", "-c", `cat "$VOLUME/records"`},
		Stage:    []string{"sh", "-ec", `cat > "$VOLUME/new"; echo "$1" > "$VOLUME/size"`, "stage"},
		Restore:  []string{"sh", "-ec", `rm "$VOLUME/records"; [ ! -e "$VOLUME/new" ] || mv "$VOLUME/new" "$VOLUME/records"`},
		Mismatch: "Newer records are gone.",
	})
	return w
}

// setCommands puts the commands into the annotation, as an apply does.
func (w *world) setCommands(b *providers.Backup) {
	w.Helper()
	text, err := jsonOf(b)
	if err != nil {
		w.Fatal(err)
	}
	annotations := w.live.GetAnnotations()
	annotations[providers.AnnotationBackup] = text
	w.live.SetAnnotations(annotations)
}

func (w *world) volume(member int) string {
	return filepath.Join(w.dir, fmt.Sprintf("data-db-server-%d", member))
}

func (w *world) write(member int, file, text string) {
	w.Helper()
	if err := os.WriteFile(filepath.Join(w.volume(member), file), []byte(text), 0o600); err != nil {
		w.Fatal(err)
	}
}

// read returns a file of a member; "": there is none.
func (w *world) read(member int, file string) string {
	text, _ := os.ReadFile(filepath.Join(w.volume(member), file))
	return string(text)
}

func (w *world) event(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.events = append(w.events, fmt.Sprintf(format, args...))
}

// changes returns the events that change anything that services use.
func (w *world) changes() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(w.events), func(e string) bool { return strings.HasPrefix(e, "pod ") })
}

func (w *world) replicas() int {
	n, _, _ := unstructured.NestedInt64(w.live.Object, "spec", "replicas")
	return int(n)
}

// cluster returns the access to the world.
func (w *world) cluster() *backup.Cluster {
	return &backup.Cluster{
		Shell: w, Writer: w, Timeout: 5 * time.Second,
		Report: func(address, text string) {
			if text == "" || strings.HasSuffix(text, ": ") {
				w.Errorf("an empty report about %s: %q", address, text)
			}
		},
		Wrote: func(address string) error { w.event("recorded %s", address); return nil },
	}
}

// workload returns the StatefulSet.
func (w *world) workload() backup.Workload {
	w.Helper()
	b, err := providers.BackupOf(w.live)
	if err != nil {
		w.Fatal(err)
	}
	return backup.Workload{Address: address, Live: w.live.DeepCopy(), Backup: b}
}

// Pods implements backup.Shell.
func (w *world) Pods(context.Context, *unstructured.Unstructured) (pods []providers.Pod, err error) {
	for i := range w.replicas() {
		pods = append(pods, providers.Pod{Name: fmt.Sprintf("db-server-%d", i), Node: fmt.Sprintf("node-%d", 9-i), Ready: true})
	}
	return pods, nil
}

// Stream implements backup.Shell.
func (w *world) Stream(ctx context.Context, pod types.NamespacedName, container string, command []string, stdin io.Reader, stdout io.Writer) error {
	volume := ""
	if made := w.made[pod.Name]; made != nil {
		if container != "data" {
			return fmt.Errorf("pod %s has no container %s", pod.Name, container)
		}
		volumes, _, _ := unstructured.NestedSlice(made.Object, "spec", "volumes")
		for _, item := range volumes {
			if claim, _, _ := unstructured.NestedString(item.(map[string]any), "persistentVolumeClaim", "claimName"); claim != "" {
				volume = filepath.Join(w.dir, claim)
			}
		}
	} else {
		volume = filepath.Join(w.dir, "data-"+pod.Name)
		if container != "server" || ordinalOf(pod.Name) >= w.replicas() {
			return fmt.Errorf("container %s of pod %s does not run", container, pod.Name)
		}
	}
	args := slices.Clone(command)
	for i := range args {
		args[i] = strings.ReplaceAll(args[i], "/backups", volume)
	}
	if w.onRun != nil {
		if err := w.onRun(pod.Name, args); err != nil {
			return err
		}
	}
	if strings.Contains(strings.Join(args, " "), "mv \"$VOLUME/new\"") {
		w.event("restore in %s with %d pods", pod.Name, w.replicas())
	}
	var out, complaint bytes.Buffer
	c := exec.CommandContext(ctx, args[0], args[1:]...)
	c.Env = append(os.Environ(), "VOLUME="+volume)
	c.Stdin, c.Stderr = stdin, &complaint
	c.Stdout, c.WaitDelay = stdout, time.Second
	if w.drains {
		c.Stdout = drained{stdout}
	}
	if w.cut > 0 && w.made[pod.Name] == nil {
		c.Stdin, c.Stdout = nil, &out
	}
	delivered := func() bool { return true }
	if w.impatient {
		c.Stdout, delivered = behind(stdout)
	}
	err := c.Run()
	if !delivered() {
		return errors.New("error reading from error stream: connection reset by peer")
	}
	if text := out.Bytes(); len(text) > 0 {
		if _, failed := stdout.Write(text[:max(0, len(text)-w.cut)]); failed != nil {
			return failed
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var ended *exec.ExitError
	if errors.As(err, &ended) {
		return &providers.CommandError{Code: ended.ExitCode(), Stderr: strings.TrimSpace(complaint.String())}
	}
	return err
}

// behind returns a writer that takes everything at once, and writes it to stdout meanwhile. delivered
// reports whether all of it is written.
func behind(stdout io.Writer) (w io.Writer, delivered func() bool) {
	var waiting atomic.Int64
	queue := make(chan []byte, 1<<16)
	go func() {
		for part := range queue {
			_, _ = stdout.Write(part)
			waiting.Add(-int64(len(part)))
		}
	}()
	return writerFunc(func(p []byte) (int, error) {
		waiting.Add(int64(len(p)))
		queue <- bytes.Clone(p)
		return len(p), nil
	}), func() bool { return waiting.Load() == 0 }
}

// writerFunc is a function as an io.Writer.
type writerFunc func([]byte) (int, error)

// Write implements io.Writer.
func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// drained writes until the first error, and never returns it, as a connection to a pod does.
type drained struct{ io.Writer }

// Write implements io.Writer.
func (d drained) Write(p []byte) (int, error) {
	_, _ = d.Writer.Write(p)
	return len(p), nil
}

func ordinalOf(pod string) (n int) {
	_, _ = fmt.Sscanf(pod, "db-server-%d", &n)
	return n
}

// Apply implements backup.Writer.
func (w *world) Apply(_ context.Context, object *unstructured.Unstructured, options providers.ApplyOptions) (*unstructured.Unstructured, error) {
	if object.GetKind() == "Pod" {
		w.event("pod %s made", object.GetName())
		w.made[object.GetName()] = object
		return object, nil
	}
	if options.Precondition.UID != w.live.GetUID() {
		return nil, errors.New("the write is not bound to the object")
	}
	spec, _, _ := unstructured.NestedMap(object.Object, "spec")
	if service := spec["serviceName"]; service != "db" || len(spec) != 2 || len(object.GetAnnotations()) > 0 || len(object.GetLabels()) != 1 {
		return nil, fmt.Errorf("the write has other fields than those of kolla: %v", object.Object)
	}
	w.event("scaled to %d", spec["replicas"])
	return w.live, unstructured.SetNestedField(w.live.Object, spec["replicas"], "spec", "replicas")
}

// Delete implements backup.Writer.
func (w *world) Delete(_ context.Context, ref providers.Ref, _ providers.DeleteOptions) error {
	if ref.GVK.Kind != "Pod" {
		return fmt.Errorf("%s is deleted", ref)
	}
	if w.made[ref.Name] != nil {
		w.event("pod %s deleted", ref.Name)
	}
	delete(w.made, ref.Name)
	return nil
}

// Wait implements backup.Writer. What is ready has no status.
func (w *world) Wait(_ context.Context, ref providers.Ref, options providers.WaitOptions) error {
	options.Report("")
	if w.onWait != nil {
		return w.onWait(ref)
	}
	return nil
}

// directory returns a Target in a new directory.
func (w *world) directory() (backup.Target, string) {
	w.Helper()
	dir := filepath.Join(w.TempDir(), "backups")
	target, err := backup.OpenDirectory(dir, true)
	if err != nil {
		w.Fatal(err)
	}
	return target, dir
}

// key returns a private key.
func key(t *testing.T) *age.X25519Identity {
	t.Helper()
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	return identity
}

var cloud = backup.Cloud{Name: "prod", Cluster: "c-1", Release: "2025.1-rocky-9"}

const name = "prod-20261127T221500Z"

// save makes a backup.
func (w *world) save(target backup.Target, to age.Recipient) (*backup.Manifest, error) {
	about := backup.Manifest{Cloud: cloud.Name, Cluster: cloud.Cluster, Release: cloud.Release, Began: time.Now()}
	return backup.Save(w.Context(), w.cluster(), target, name, about, []backup.Workload{w.workload()}, w.texts, []age.Recipient{to})
}

// restore restores a backup as the command does.
func (w *world) restore(target backup.Target, with age.Identity) (err error) {
	ctx := w.Context()
	m, err := backup.Read(ctx, target, name)
	if err == nil {
		err = m.Check(name, cloud, false)
	}
	if err != nil {
		return err
	}
	r, err := backup.Plan(ctx, w.cluster(), target, name, m, []backup.Workload{w.workload()}, []age.Identity{with})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close(ctx)) }()
	if err := r.Stage(ctx); err != nil {
		return err
	}
	return r.Commit(ctx)
}

var errNotFound = apierrors.NewNotFound(schema.GroupResource{Resource: "statefulsets"}, "db-server")
