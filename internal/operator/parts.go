package operator

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"kolla.openstack.org/kolla/internal/operator/v1alpha1"
)

// partSize is the most data of a Secret, in bytes. The API permits 1 MiB for an object.
const partSize = 900 << 10

// annotationParts says how many Secrets belong together. The first one has it.
const annotationParts = "kolla.openstack.org/parts"

// annotationSum has the hash of all entries. The first Secret has it: parts of two versions do not fit.
const annotationSum = "kolla.openstack.org/sum"

// sumOf returns a hash of entries.
func sumOf(entries map[string][]byte) string {
	h := sha256.New()
	for _, key := range slices.Sorted(maps.Keys(entries)) {
		fmt.Fprintf(h, "%d:%s%d:", len(key), key, len(entries[key]))
		h.Write(entries[key])
	}
	return hex.EncodeToString(h.Sum(nil))
}

// split distributes entries over parts. A large entry continues in the next part under the same key.
func split(entries map[string][]byte, size int) []map[string][]byte {
	parts, room := []map[string][]byte{{}}, size
	for _, key := range slices.Sorted(maps.Keys(entries)) {
		rest := entries[key]
		for {
			n := min(len(rest), room)
			parts[len(parts)-1][key] = rest[:n]
			if rest, room = rest[n:], room-n; len(rest) == 0 {
				break
			}
			parts, room = append(parts, map[string][]byte{}), size
		}
	}
	return parts
}

func partName(name string, i int) string {
	if i == 0 {
		return name
	}
	return name + ".part" + strconv.Itoa(i) // no name of another plan
}

// putParts writes entries to Secrets of the owner: NAME, NAME.part1, ... After a kill in between, ReadParts
// returns an error.
func (r *Reconciler) putParts(ctx context.Context, cloud *v1alpha1.Cloud, owner client.Object, name string, entries map[string][]byte) error {
	parts, sum := split(entries, partSize), sumOf(entries)
	for i := len(parts) - 1; i >= 0; i-- {
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: cloud.Namespace, Name: partName(name, i)}}
		_, err := controllerutil.CreateOrUpdate(ctx, r.Client, secret, func() error {
			if secret.UID != "" && secret.Labels[v1alpha1.LabelCloud] != cloud.Name {
				return errors.New("it exists, and is not the operator's. Rename it, or the Cloud")
			}
			secret.Labels = map[string]string{v1alpha1.LabelCloud: cloud.Name}
			secret.Annotations = map[string]string{annotationParts: strconv.Itoa(len(parts)), annotationSum: sum}
			secret.Data = parts[i]
			return controllerutil.SetOwnerReference(owner, secret, r.Client.Scheme())
		})
		if err != nil {
			return fmt.Errorf("write Secret %s in namespace %s: %w", secret.Name, secret.Namespace, err)
		}
	}
	return nil
}

// ReadParts reads what putParts has written; nil: nothing.
func ReadParts(ctx context.Context, from client.Reader, namespace, name string) (map[string][]byte, error) {
	var out map[string][]byte
	sum := ""
	for i, n := 0, 1; i < n; i++ {
		var secret corev1.Secret
		err := from.Get(ctx, client.ObjectKey{Namespace: namespace, Name: partName(name, i)}, &secret)
		if apierrors.IsNotFound(err) && i == 0 {
			return nil, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read Secret %s in namespace %s: %w", partName(name, i), namespace, err)
		}
		if i == 0 {
			out, sum = map[string][]byte{}, secret.Annotations[annotationSum]
			if n, err = strconv.Atoi(secret.Annotations[annotationParts]); err != nil || n < 1 {
				return nil, fmt.Errorf("the Secret %s in namespace %s is not one of the operator", name, namespace)
			}
		}
		for key, value := range secret.Data {
			out[key] = append(out[key], value...)
		}
	}
	if sumOf(out) != sum {
		return nil, fmt.Errorf("the Secret %s in namespace %s is not whole, or was edited", name, namespace)
	}
	return out, nil
}
