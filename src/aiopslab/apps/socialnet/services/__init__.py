"""The eleven Thrift services, a module each."""
