package storage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	storagelisters "k8s.io/client-go/listers/storage/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
)

// Annotations that the control plane and provisioners communicate with.
const (
	provisionedByAnnotation = "pv.kubernetes.io/provisioned-by"
	provisionerAnnotation   = "volume.kubernetes.io/storage-provisioner"
	selectedNodeAnnotation  = "volume.kubernetes.io/selected-node"
)

// key is an element of the queue: a claim, or a volume if it has no namespace.
type key = types.NamespacedName

type provisioner struct {
	client  kubernetes.Interface
	local   local
	claims  corelisters.PersistentVolumeClaimLister
	volumes corelisters.PersistentVolumeLister
	classes storagelisters.StorageClassLister
	queue   workqueue.TypedRateLimitingInterface[key]
	log     *log.Logger
}

// Provision makes volumes for claims, grows them with their claims and removes
// them once they are released, until ctx ends.
//
// The homes of the real nodes are in the folder machines, by name.
func Provision(ctx context.Context, client kubernetes.Interface, machines string) error {
	factory := informers.NewSharedInformerFactory(client, 0)
	claims := factory.Core().V1().PersistentVolumeClaims()
	volumes := factory.Core().V1().PersistentVolumes()
	classes := factory.Storage().V1().StorageClasses()
	p := &provisioner{
		client:  client,
		local:   local{machines: machines},
		claims:  claims.Lister(),
		volumes: volumes.Lister(),
		classes: classes.Lister(),
		log:     log.New(os.Stderr, "provisioner: ", log.LstdFlags),
		queue: workqueue.NewTypedRateLimitingQueue(
			workqueue.NewTypedItemExponentialFailureRateLimiter[key](20*time.Millisecond, 5*time.Second)),
	}
	defer p.queue.ShutDown()
	// The listers of claims and classes are created first, so that their
	// informers are known to the factory when it starts.
	classes.Informer()
	for _, informer := range []cache.SharedIndexInformer{claims.Informer(), volumes.Informer()} {
		if _, err := informer.AddEventHandler(p.handlers()); err != nil {
			return fmt.Errorf("provision volumes: %w", err)
		}
	}
	factory.Start(ctx.Done())
	for kind, synced := range factory.WaitForCacheSync(ctx.Done()) {
		if !synced {
			return fmt.Errorf("provision volumes: list of %v never arrived", kind)
		}
	}
	for range 4 {
		go func() {
			for p.next(ctx) {
			}
		}()
	}
	<-ctx.Done()
	return nil
}

func (p *provisioner) handlers() cache.ResourceEventHandlerFuncs {
	enqueue := func(object any) {
		if meta, ok := object.(metav1.Object); ok {
			p.queue.Add(key{Namespace: meta.GetNamespace(), Name: meta.GetName()})
		}
	}
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    enqueue,
		UpdateFunc: func(_, object any) { enqueue(object) },
	}
}

func (p *provisioner) next(ctx context.Context) bool {
	item, shutdown := p.queue.Get()
	if shutdown {
		return false
	}
	defer p.queue.Done(item)
	work := p.syncClaim
	if item.Namespace == "" {
		work = p.syncVolume
	}
	if err := work(ctx, item); err != nil && !apierrors.IsNotFound(err) {
		p.log.Print(err)
		p.queue.AddRateLimited(item)
		return true
	}
	p.queue.Forget(item)
	return true
}

// syncClaim makes a volume for a waiting claim of our class, and resizes the volume of a bound
// claim.
func (p *provisioner) syncClaim(ctx context.Context, item key) error {
	claim, err := p.claims.PersistentVolumeClaims(item.Namespace).Get(item.Name)
	if err != nil {
		return err
	}
	if claim.DeletionTimestamp != nil || claim.Annotations[provisionerAnnotation] != Provisioner {
		return nil
	}
	if claim.Spec.VolumeName != "" {
		return p.grow(ctx, claim)
	}
	if claim.Spec.StorageClassName == nil {
		return nil
	}
	class, err := p.classes.Get(*claim.Spec.StorageClassName)
	if err != nil {
		return fmt.Errorf("provision volume for claim %s: %w", item, err)
	}
	if waitsForPod(class) && claim.Annotations[selectedNodeAnnotation] == "" {
		return nil
	}
	volume := newVolume(claim, class)
	if err := p.local.place(volume, claim.Annotations[selectedNodeAnnotation]); err != nil {
		return fmt.Errorf("provision volume for claim %s: %w", item, err)
	}
	_, err = p.client.CoreV1().PersistentVolumes().Create(ctx, volume, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("provision volume for claim %s: %w", item, err)
	}
	return nil
}

func waitsForPod(class *storagev1.StorageClass) bool {
	return class.VolumeBindingMode != nil && *class.VolumeBindingMode == storagev1.VolumeBindingWaitForFirstConsumer
}

// newVolume is reserved for its claim, so that the control plane binds the two.
func newVolume(claim *corev1.PersistentVolumeClaim, class *storagev1.StorageClass) *corev1.PersistentVolume {
	name := "pvc-" + string(claim.UID)
	reclaim := corev1.PersistentVolumeReclaimDelete
	if class.ReclaimPolicy != nil {
		reclaim = *class.ReclaimPolicy
	}
	return &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{
			Name:        name,
			Annotations: map[string]string{provisionedByAnnotation: Provisioner},
		},
		Spec: corev1.PersistentVolumeSpec{
			Capacity:                      corev1.ResourceList{corev1.ResourceStorage: claim.Spec.Resources.Requests[corev1.ResourceStorage]},
			AccessModes:                   claim.Spec.AccessModes,
			VolumeMode:                    claim.Spec.VolumeMode,
			MountOptions:                  class.MountOptions,
			StorageClassName:              class.Name,
			PersistentVolumeReclaimPolicy: reclaim,
			ClaimRef: &corev1.ObjectReference{
				APIVersion: "v1", Kind: "PersistentVolumeClaim",
				Namespace: claim.Namespace, Name: claim.Name, UID: claim.UID,
			},
			// On a simulated node no kubelet ever mounts it.
			PersistentVolumeSource: corev1.PersistentVolumeSource{
				HostPath: &corev1.HostPathVolumeSource{Path: "/simulated/" + name},
			},
		},
	}
}

// grow resizes a volume if its claim asks for more.
func (p *provisioner) grow(ctx context.Context, claim *corev1.PersistentVolumeClaim) error {
	wanted := claim.Spec.Resources.Requests[corev1.ResourceStorage]
	has := claim.Status.Capacity[corev1.ResourceStorage]
	if claim.Status.Phase != corev1.ClaimBound || wanted.Cmp(has) <= 0 {
		return nil
	}
	capacity := map[string]any{"capacity": corev1.ResourceList{corev1.ResourceStorage: wanted}}
	spec, err := json.Marshal(map[string]any{"spec": capacity})
	if err != nil {
		return err
	}
	status, err := json.Marshal(map[string]any{"status": capacity})
	if err != nil {
		return err
	}
	_, err = p.client.CoreV1().PersistentVolumes().Patch(ctx, claim.Spec.VolumeName, types.MergePatchType, spec, metav1.PatchOptions{})
	if err != nil {
		return fmt.Errorf("grow volume %s: %w", claim.Spec.VolumeName, err)
	}
	_, err = p.client.CoreV1().PersistentVolumeClaims(claim.Namespace).
		Patch(ctx, claim.Name, types.MergePatchType, status, metav1.PatchOptions{}, "status")
	if err != nil {
		return fmt.Errorf("grow claim %s/%s: %w", claim.Namespace, claim.Name, err)
	}
	return nil
}

// syncVolume removes a volume of ours whose claim is gone. The control plane
// leaves that to the provisioner named on the volume.
func (p *provisioner) syncVolume(ctx context.Context, item key) error {
	volume, err := p.volumes.Get(item.Name)
	if err != nil {
		return err
	}
	if volume.Annotations[provisionedByAnnotation] != Provisioner || volume.DeletionTimestamp != nil ||
		volume.Status.Phase != corev1.VolumeReleased ||
		volume.Spec.PersistentVolumeReclaimPolicy != corev1.PersistentVolumeReclaimDelete {
		return nil
	}
	// Delete the data first, because nothing would delete them after the object.
	if err := p.local.remove(volume); err != nil {
		return fmt.Errorf("delete released volume %s: %w", volume.Name, err)
	}
	err = p.client.CoreV1().PersistentVolumes().Delete(ctx, volume.Name, metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: &volume.UID},
	})
	if err != nil && !errors.Is(err, context.Canceled) {
		return fmt.Errorf("delete released volume %s: %w", volume.Name, err)
	}
	return nil
}
