"""Messages and stubs of the gRPC contract, made when this module is loaded.

Generated `_pb2` modules are tied to the protobuf release that generated them, while ADK programs
come with whatever release their other dependencies chose. So the package ships the compiled
contract itself, a `FileDescriptorSet`, and builds the classes from it with the protobuf runtime
that is there. It has a descriptor pool of its own and cannot clash with other users of protobuf.

A message class is an attribute of this module: `_wire.StartRun(run_id="…")`.
"""

from __future__ import annotations

import functools
from importlib import resources
from typing import Any

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

PACKAGE = "hotseat.v1"
_CONTRACT = "hotseat.v1.binpb"


def _load() -> tuple[dict[str, Any], dict[str, descriptor_pb2.ServiceDescriptorProto]]:
    packed = resources.files("hotseat").joinpath("_proto", _CONTRACT).read_bytes()
    files = descriptor_pb2.FileDescriptorSet.FromString(packed)
    pool = descriptor_pool.DescriptorPool()
    classes: dict[str, Any] = {}
    services: dict[str, descriptor_pb2.ServiceDescriptorProto] = {}
    for file in files.file:
        pool.Add(file)
        if file.package != PACKAGE:
            continue
        for message in file.message_type:
            descriptor = pool.FindMessageTypeByName(f"{PACKAGE}.{message.name}")
            classes[message.name] = message_factory.GetMessageClass(descriptor)
        services.update({service.name: service for service in file.service})
    return classes, services


_CLASSES, _SERVICES = _load()


def __getattr__(name: str) -> Any:
    try:
        return _CLASSES[name]
    except KeyError:
        raise AttributeError(f"the contract {PACKAGE} has no message {name}") from None


@functools.cache
def unary(service: str, method: str) -> tuple[str, Any]:
    """The path of a method with one answer, and the class of that answer."""
    for each in _SERVICES[service].method:
        if each.name == method and not each.client_streaming and not each.server_streaming:
            return f"/{PACKAGE}.{service}/{method}", _CLASSES[each.output_type.rpartition(".")[2]]
    raise AttributeError(f"the contract {PACKAGE} has no method {service}.{method} of this kind")


class Stub:
    """The methods of one service on one channel, as grpc.aio callables."""

    def __init__(self, channel: grpc.aio.Channel, service: str) -> None:
        for method in _SERVICES[service].method:
            setattr(self, method.name, self._callable(channel, service, method))

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"the contract {PACKAGE} has no method {name}")

    @staticmethod
    def _callable(
        channel: grpc.aio.Channel, service: str, method: descriptor_pb2.MethodDescriptorProto
    ) -> Any:
        arity = (
            f"{'stream' if method.client_streaming else 'unary'}"
            f"_{'stream' if method.server_streaming else 'unary'}"
        )
        request = _CLASSES[method.input_type.rpartition(".")[2]]
        response = _CLASSES[method.output_type.rpartition(".")[2]]
        return getattr(channel, arity)(
            f"/{PACKAGE}.{service}/{method.name}",
            request_serializer=request.SerializeToString,
            response_deserializer=response.FromString,
        )
